/**
 * What a case shows, whoever wants to know: `reproduce`, `reduce`, `dedupe`, `matrix` and the library all look at a case this way, so that one
 * file has one verdict.
 *
 * - A case with a **schedule** is run by it, once for each oracle that can hold the database to the contract, until one finds something.
 * - A case **without** one says that its sessions are independent (`-- schedule: none`): they run freely, as fast as the database answers. Which
 *   order comes of that is chance, so each oracle sees up to `mostFreeRuns` runs.
 * - Where none finds anything, the verdict is that of the first, as of `run --check`, which asks one oracle alone: the others were only asked
 *   whether they see more.
 */
import type { ScheduledCase } from '../cases/index.js';
import { type Finding, type OracleName, oraclesFor, verdictOf } from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import type { Target } from '../targets/index.js';
import { vendorContract, vendorContractAt } from './contract-choice.js';
import type { Observed } from './database.js';
import type { RunRequest } from './run-and-judge.js';

/** How often a case without a schedule is run freely for one oracle before we say that it shows nothing. */
export const mostFreeRuns = 20;

/** What a case is held to, and who judges. */
export interface Asked {
  /** Default: all that can judge by the contract, one after another. */
  readonly oracle?: OracleName;
  /** Default: what the vendor promises at the level. */
  readonly contract?: Contract;
  /** For sessions whose case names no level; default: the target's. */
  readonly level?: Level;
}

export interface LookPlace {
  readonly target: Target;
  readonly observe: (request: RunRequest) => Promise<Observed>;
  readonly signal?: AbortSignal | undefined;
}

/** Who judged, by what, and how many runs it took. */
interface Looked {
  readonly oracle: OracleName;
  readonly contract: Contract;
  readonly runs: number;
}

export type Look =
  /** The first run that shows something; there is at least one finding. */
  | (Looked & {
      readonly kind: 'found';
      readonly history: History;
      readonly findings: readonly [Finding, ...Finding[]];
      /** The contract that says how the engine orders things, for whoever infers the order of the run. */
      readonly order: Contract;
    })
  /** Nothing was found; what could not be judged may hide something. */
  | (Looked & {
      readonly kind: 'nothing';
      readonly valid: boolean | 'unknown';
      readonly unknownReasons: readonly string[];
    });

/** Rejects if the set-up fails, or no oracle can judge by the contract. */
export async function lookAtCase(
  scheduled: ScheduledCase,
  asked: Asked,
  { target, observe, signal }: LookPlace,
): Promise<Look> {
  const level = scheduled.case.level ?? asked.level ?? target.defaultLevel;
  const contract = asked.contract ?? vendorContractAt(target, level);
  const names = asked.oracle === undefined ? oraclesFor(contract).map(({ name }) => name) : [asked.oracle];
  const tries = scheduled.schedule === undefined ? mostFreeRuns : 1;
  const reasons = new Set<string>();
  let runs = 0;
  for (const oracle of names) {
    for (let i = 0; i < tries && signal?.aborted !== true; i++) {
      const request = { ...scheduled, oracle, contract };
      const seen = countedRun(
        await observe(asked.level === undefined ? request : { ...request, level: asked.level }),
      );
      runs++;
      const [first, ...more] = seen.findings;
      if (first === undefined || seen.history === undefined) {
        if (oracle === names[0]) for (const reason of seen.unknownReasons) reasons.add(reason);
        continue;
      }
      const { history } = seen;
      const order = vendorContract(target, level) ?? contract;
      return { kind: 'found', ...{ oracle, contract, runs, history, order }, findings: [first, ...more] };
    }
  }
  if (signal?.aborted === true) reasons.add('it was interrupted before everything was judged');
  const unknownReasons = [...reasons];
  const by = { oracle: names[0]!, contract, runs };
  return { kind: 'nothing', ...by, valid: verdictOf([], unknownReasons), unknownReasons };
}

interface CountedRun {
  readonly history?: History;
  readonly findings: readonly Finding[];
  readonly unknownReasons: readonly string[];
}

/** One run as it counts here; what was cut short shows nothing. */
function countedRun(observed: Observed): CountedRun {
  if (observed.kind === 'ran') return observed;
  if (observed.kind === 'bad-setup') throw new IsoldeError('target', observed.message);
  return { findings: [], unknownReasons: ['the run was cut short'] };
}
