/**
 * The one way in which a case is run and judged: hunts, reductions, reproductions, reruns of stored bugs, `run --check` and
 * the library all come through here.
 *
 * 1. The oracle prepares what is sent in place of the case.
 * 2. It runs, by its schedule or freely.
 * 3. Of the oracles that judge every run, decisive ones look first: what they find (a server that died) leaves nothing for
 *    others to judge.
 * 4. The oracle judges, and tells the history as the author of the case knows it. Oracles that judge every run then add what
 *    they find in that history (a declared key that is broken), before its own findings. Where no statement could run, nothing was judged.
 */
import type { Case, Schedule, ScheduledCase } from '../cases/index.js';
import {
  constantOracles,
  type JudgeContext,
  type JudgedHistory,
  judgedHistory,
  type Oracle,
  type OracleName,
  oracleNamed,
  unlessNothingRan,
} from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type RunOptions, runFree, runScheduled } from '../execute/index.js';
import type { History } from '../histories/index.js';
import type { Scratch, Target } from '../targets/index.js';
import { vendorContractAt } from './contract-choice.js';

/** Something to run, and who judges it by what. */
export interface RunRequest {
  readonly case: Case;
  /** Absent: a free run. */
  readonly schedule?: Schedule;
  /** Queries before and after the run, unless the oracle has its own. */
  readonly observe?: readonly string[];
  readonly oracle: OracleName;
  /** For sessions whose case names no level; default: the target's. */
  readonly level?: Level;
  /** Default: what the vendor promises at that level. */
  readonly contract?: Contract;
}

/** Where it runs. */
export interface RunPlace
  extends Pick<
    RunOptions,
    'target' | 'sessions' | 'signal' | 'clock' | 'statementTimeoutMs' | 'lockTimeoutMs'
  > {
  readonly scratch: Scratch;
}

export async function runAndJudge(request: RunRequest, place: RunPlace): Promise<JudgedHistory> {
  return runAndJudgeBy(oracleNamed(request.oracle), request, place);
}

/** The same by an oracle that need not be in the registry: one that is made for a program, as those of bursts are. */
export async function runAndJudgeBy<Plan>(
  given: Oracle<Plan>,
  request: Omit<RunRequest, 'oracle'>,
  place: RunPlace,
): Promise<JudgedHistory> {
  const oracle = given as Oracle;
  const { scratch, ...options } = place;
  const { target, signal } = options;
  const contract = contractOfRequest(oracle, request, place);
  const setting = { target, contract };
  const { program, observe, plan } = oracle.prepare?.(request, setting) ?? {
    program: request,
    observe: request.observe,
    plan: undefined,
  };
  const run: RunOptions = { ...options, ...(request.level !== undefined && { level: request.level }) };
  const watched: RunOptions = observe === undefined ? run : { ...run, observe };
  const beforeBytes = heldAfter.get(target) ?? target.memoryBytes?.();
  const raw = await execute(scratch, program, watched);
  const afterBytes = beforeBytes === undefined ? undefined : target.memoryBytes?.();
  if (afterBytes !== undefined) heldAfter.set(target, afterBytes);
  if (signal?.aborted === true) return cutShort(oracle, contract, asWritten(oracle, raw, plan));
  const context: JudgeContext = {
    ...setting,
    ...(beforeBytes !== undefined && afterBytes !== undefined && { memory: { beforeBytes, afterBytes } }),
    ...(oracle.needs.executions === true && {
      execute: (other, level) => execute(scratch, other, level === undefined ? run : { ...run, level }),
    }),
  };
  const decisive = constantOracles().filter((each) => each.decisive === true);
  const first = await judgeByAll(decisive, raw, context);
  if (first !== undefined)
    return (await judgeByAll(decisive, asWritten(oracle, raw, plan), context)) ?? first;
  if (oracle.judge === undefined)
    throw new IsoldeError('usage', `the oracle ${oracle.name} judges recorded histories only`);
  const judged = await oracle.judge(raw, plan, context);
  const others = constantOracles().filter((each) => each.decisive !== true);
  const beside = await judgeByAll(others, judged.history, context);
  return beside === undefined
    ? unlessNothingRan(judged, judged.history)
    : { ...judged, valid: false, findings: [...beside.findings, ...judged.findings] };
}

/** What a server held after its last run is what it holds before the next: to ask dozens of processes costs as much as a statement. */
const heldAfter = new WeakMap<Target, number>();

function execute(
  scratch: Scratch,
  { case: program, schedule }: ScheduledCase,
  options: RunOptions,
): Promise<History> {
  return schedule === undefined
    ? runFree(scratch, program, options)
    : runScheduled(scratch, { case: program, schedule }, options);
}

/** The contract that holds for a request, and whether its oracle can judge by it. */
function contractOfRequest(
  oracle: Oracle,
  request: Omit<RunRequest, 'oracle'>,
  { target }: RunPlace,
): Contract {
  const level = request.case.level ?? request.level ?? target.defaultLevel;
  const contract = request.contract ?? vendorContractAt(target, level);
  const why = oracle.refuses?.(contract);
  if (why !== undefined) throw new IsoldeError('usage', `the oracle ${oracle.name} cannot judge: ${why}`);
  return contract;
}

async function judgeByAll(
  oracles: readonly Oracle[],
  history: History,
  context: JudgeContext,
): Promise<JudgedHistory | undefined> {
  for (const oracle of oracles) {
    const judged = await oracle.judge?.(history, undefined, context);
    if (judged !== undefined && judged.findings.length > 0) return judged;
  }
  return undefined;
}

function asWritten(oracle: Oracle, history: History, plan: unknown): History {
  return oracle.asWritten?.(history, plan) ?? history;
}

function cutShort({ name }: Oracle, { id }: Contract, history: History): JudgedHistory {
  const unknownReasons = ['the run was cut short'];
  return judgedHistory(history, { oracle: name, contract: id, findings: [], unknownReasons });
}
