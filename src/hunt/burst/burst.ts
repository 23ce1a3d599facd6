/**
 * Bursts: programs of `burst-program.ts` run freely, thousands of transactions at once, until one breaks its fact.
 *
 * What a race does once it does now and then, so nothing is asked of every run. A break is confirmed by rate:
 *
 * 1. the same burst runs again and again: how many of the runs break the fact;
 * 2. the same transactions run in one session, one after another: if that breaks it, too, concurrency is not the cause;
 * 3. where a control is given (another version of the engine), the same there;
 * 4. sessions and repetitions are halved as long as some runs still break the fact.
 *
 * A break that no second run shows is reported as seen once, and decides nothing. Runs and verdicts come from `runAndJudgeBy`, as those
 * of all other commands do; what is different here is only that verdicts are counted.
 */
import type { Case } from '../../cases/index.js';
import { type JudgedHistory, wentAway } from '../../check/index.js';
import { type Contract, describeKind, type Level } from '../../contracts/index.js';
import { SessionPool } from '../../execute/index.js';
import { runAndJudgeBy } from '../../judge/index.js';
import type { Target } from '../../targets/index.js';
import { burstOracle, outcomeOf } from './burst-oracle.js';
import type { BurstOutcome, BurstProgram } from './burst-program.js';

export interface BurstSize {
  readonly sessions: number;
  /** Transactions of each session. */
  readonly repeats: number;
}

export interface BurstOptions extends BurstSize {
  readonly level: Level;
  readonly contract: Contract;
  readonly programs: readonly BurstProgram[];
  /** Runs that confirm a break, and runs of each control. */
  readonly runs: number;
  /** Goes on with new bursts until then; undefined: one of each program. */
  readonly until?: (() => boolean) | undefined;
  /** Another database to compare with. */
  readonly control?: Target | undefined;
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** How runs of one kind ended. */
export interface BurstRate {
  readonly runs: number;
  readonly broken: number;
  /** Each distinct outcome with its count, the commonest first. */
  readonly outcomes: readonly { readonly text: string; readonly count: number }[];
}

export interface BurstFinding {
  readonly program: string;
  readonly fact: string;
  readonly contract: string;
  readonly clause: string;
  readonly size: BurstSize;
  readonly rate: BurstRate;
  readonly serial: BurstRate;
  readonly control?: BurstRate | undefined;
  /** The smallest burst that still breaks it, with its rate. */
  readonly reduced: BurstSize & { readonly rate: BurstRate };
  /** `once`: no other run showed it; `not isolation`: one session alone breaks it, too. */
  readonly verdict: 'confirmed' | 'once' | 'not isolation';
}

export interface BurstResult {
  readonly bursts: number;
  readonly transactions: number;
  /** Programs that the contract says nothing about. */
  readonly notAsked: readonly string[];
  /** Bursts whose outcome could not be judged, by reason. */
  readonly undecided: Readonly<Record<string, number>>;
  readonly finding: BurstFinding | undefined;
}

/** Runs bursts in turn until one breaks its fact. */
export async function runBursts(target: Target, options: BurstOptions): Promise<BurstResult> {
  const { contract, programs, signal } = options;
  const asked = programs.filter((program) => program.clause(contract) !== undefined);
  const lab = await BurstLab.open(target, options);
  const undecided: Record<string, number> = {};
  let bursts = 0;
  try {
    while (asked.length > 0 && signal?.aborted !== true) {
      const program = asked[bursts % asked.length]!;
      options.onProgress?.(`burst ${bursts + 1}: ${program.name}`);
      const judged = await lab.judge(program, options);
      const outcome = outcomeOf(judged);
      bursts++;
      if (outcome.kind === 'unknown') undecided[outcome.text] = (undecided[outcome.text] ?? 0) + 1;
      if (outcome.kind === 'broken') return result(await pursueBurst(lab, program, judged, options));
      if (lab.stopped) break;
      const isLastOfTurn = bursts % asked.length === 0;
      if (options.until === undefined ? isLastOfTurn : options.until()) break;
    }
    return result(undefined);
  } finally {
    await lab.close();
  }

  function result(finding: BurstFinding | undefined): BurstResult {
    const notAsked = programs.filter((program) => !asked.includes(program)).map(({ name }) => name);
    return { bursts, transactions: lab.transactions, notAsked, undecided, finding };
  }
}

async function pursueBurst(
  lab: BurstLab,
  program: BurstProgram,
  first: JudgedHistory,
  options: BurstOptions,
): Promise<BurstFinding> {
  const { runs, contract, control } = options;
  const size = { sessions: options.sessions, repeats: options.repeats };
  const again = await lab.rate(program, size, runs);
  const rate = rateOf([outcomeOf(first), ...again]);
  const { kind, clause } = first.findings[0]!;
  const serial = rateOf(await lab.rate(program, size, Math.min(runs, 3), true));
  const other = control === undefined ? undefined : await BurstLab.open(control, options);
  const compared = other === undefined ? undefined : rateOf(await other.rate(program, size, runs));
  await other?.close();
  const confirmed = again.some(({ kind }) => kind === 'broken');
  const reduced = confirmed ? await reduceBurst(lab, program, size, runs) : { ...size, rate };
  return {
    program: program.name,
    fact: kind === 'broken-fact' ? program.fact : describeKind(kind).expected,
    contract: contract.id,
    clause: clause ?? program.clause(contract)!,
    size,
    rate,
    serial,
    control: compared,
    reduced,
    verdict: serial.broken > 0 ? 'not isolation' : confirmed ? 'confirmed' : 'once',
  };
}

const fewestSessions = 2;
const fewestRepeats = 4;

/** Halves the burst while some of its runs break the fact. */
async function reduceBurst(
  lab: BurstLab,
  program: BurstProgram,
  size: BurstSize,
  runs: number,
): Promise<BurstFinding['reduced']> {
  let best = { ...size, rate: rateOf(await lab.rate(program, size, runs)) };
  for (;;) {
    const smaller = [
      { sessions: best.sessions, repeats: Math.ceil(best.repeats / 2) },
      { sessions: Math.ceil(best.sessions / 2), repeats: best.repeats },
    ].filter(
      ({ sessions, repeats }) =>
        sessions >= fewestSessions &&
        repeats >= fewestRepeats &&
        sessions * repeats < best.sessions * best.repeats,
    );
    let found: typeof best | undefined;
    for (const each of smaller) {
      if (found !== undefined || lab.stopped) continue;
      const rate = rateOf(await lab.rate(program, each, runs));
      if (rate.broken > 0) found = { ...each, rate };
    }
    if (found === undefined) return best;
    best = found;
  }
}

function rateOf(outcomes: readonly BurstOutcome[]): BurstRate {
  const counts = new Map<string, number>();
  for (const { text } of outcomes) counts.set(text, (counts.get(text) ?? 0) + 1);
  return {
    runs: outcomes.length,
    broken: outcomes.filter(({ kind }) => kind === 'broken').length,
    outcomes: [...counts].map(([text, count]) => ({ text, count })).sort((a, b) => b.count - a.count),
  };
}

type LabOptions = Pick<BurstOptions, 'level' | 'contract' | 'signal'>;

/** One database with the connections of its bursts. */
class BurstLab {
  transactions = 0;
  /** The database went away, and the connections with it. */
  #lost = false;

  private constructor(
    private readonly target: Target,
    private readonly scratch: Awaited<ReturnType<Target['createScratch']>>,
    private readonly sessions: SessionPool,
    private readonly options: LabOptions,
  ) {}

  static async open(target: Target, options: LabOptions): Promise<BurstLab> {
    const scratch = await target.createScratch();
    const pool = new SessionPool(scratch, { statementTimeoutMs: 10_000, lockTimeoutMs: 2_000 });
    return new BurstLab(target, scratch, pool, options);
  }

  get stopped(): boolean {
    return this.#lost || this.options.signal?.aborted === true;
  }

  async close(): Promise<void> {
    await this.sessions.close();
    await this.scratch.drop();
  }

  async rate(program: BurstProgram, size: BurstSize, runs: number, serial = false): Promise<BurstOutcome[]> {
    const outcomes: BurstOutcome[] = [];
    for (let i = 0; i < runs && !this.stopped; i++)
      outcomes.push(outcomeOf(await this.judge(program, size, serial)));
    return outcomes;
  }

  async judge(program: BurstProgram, size: BurstSize, serial = false): Promise<JudgedHistory> {
    const { level, contract, signal } = this.options;
    const { target, scratch, sessions } = this;
    const judged = await runAndJudgeBy(
      burstOracle(program),
      { case: burstCase(program, target, size, serial), level, contract },
      { target, scratch, sessions, ...(signal === undefined ? {} : { signal }) },
    );
    const { operations } = judged.history;
    this.transactions += new Set(operations.map(({ transaction }) => transaction)).size;
    this.#lost ||= wentAway(judged.history);
    return judged;
  }
}

/** `serial`: all of it in one session, transaction by transaction. */
export function burstCase(
  program: BurstProgram,
  { dialect }: Pick<Target, 'dialect'>,
  { sessions, repeats }: BurstSize,
  serial: boolean,
): Case {
  const of = (session: number, repeat: number) => program.transaction({ session, repeat, dialect });
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  const one = range(repeats).flatMap((repeat) => range(sessions).flatMap((session) => of(session, repeat)));
  return {
    name: `burst-${program.name}`,
    dialect,
    setup: program.setup,
    sessions: serial
      ? [{ name: 'T1', statements: one }]
      : range(sessions).map((session) => ({
          name: `T${session + 1}`,
          statements: range(repeats).flatMap((repeat) => of(session, repeat)),
        })),
  };
}
