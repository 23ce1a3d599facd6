/** Real bugs for tests: run a case on a database, verify the history, make a bug of what is wrong with it. */
import type { ScheduledCase } from '../cases/index.js';
import { serialOrder } from '../cases/index.js';
import { checkInstrumented, instrumentCase } from '../check/instrument/index.js';
import { verifyMechanism } from '../check/mechanism/index.js';
import { findContract, type Level } from '../contracts/index.js';
import { runScheduled } from '../execute/index.js';
import type { Scratch, Target } from '../targets/index.js';
import { type Bug, makeBug } from './bug.js';

export interface Hunted {
  readonly target: Target;
  readonly scratch: Scratch;
  readonly scheduled: ScheduledCase;
  readonly level?: Level;
  /** The kind of the finding; default: the first. */
  readonly kind?: string;
}

export async function findBug({ target, scratch, scheduled, level, kind }: Hunted): Promise<Bug> {
  const wanted = level ?? target.defaultLevel;
  const history = await runScheduled(scratch, scheduled, { target, level: wanted });
  const id = target.levels.find((offered) => offered.level === wanted)!.contract;
  const { findings } = verifyMechanism(history, findContract(id)!);
  const finding = findings.find((each) => kind === undefined || each.kind === kind);
  if (finding === undefined)
    throw new Error(`no finding ${kind ?? ''} of ${scheduled.case.name} on ${target.name}`);
  return makeBug({
    case: scheduled.case,
    schedule: scheduled.schedule ?? serialOrder(scheduled.case),
    finding,
    history,
    reproduced: { shown: 20, runs: 20 },
    raw: { sessions: 8, transactions: 210, operations: 1543 },
    seed: '42',
    at: '2026-01-02T03:04:05.000Z',
  });
}

/** What an instrumented run of a case breaks of a contract, as a bug. */
export async function findGraphBug(
  target: Target,
  scheduled: ScheduledCase,
  held: { readonly contract: string; readonly level?: Level; readonly kind?: string },
): Promise<Bug> {
  const contract = findContract(held.contract)!;
  const instrumented = instrumentCase(scheduled, target.dialect, { contract });
  const raw = await runScheduled(await target.createScratch(), instrumented.scheduled, {
    target,
    level: held.level ?? target.defaultLevel,
    observe: instrumented.observe,
  });
  const { history, findings } = checkInstrumented(raw, instrumented, { contract });
  const finding = findings.find(({ kind }) => held.kind === undefined || kind === held.kind);
  if (finding === undefined) throw new Error(`no finding of ${scheduled.case.name} on ${target.name}`);
  return makeBug({
    case: scheduled.case,
    schedule: scheduled.schedule ?? serialOrder(scheduled.case),
    finding,
    history,
    reproduced: { shown: 3, runs: 3 },
    at: '2026-01-02T03:04:05.000Z',
  });
}
