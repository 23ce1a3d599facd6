/**
 * Bursts: programs of `burst-programs.ts` run freely, thousands of transactions at once, until one breaks its fact.
 *
 * What a race does once it does now and then, so nothing is asked of every run. A break is confirmed by rate:
 *
 * 1. the same burst runs again and again: how many of the runs break the fact;
 * 2. the same transactions run in one session, one after another: if that breaks it, too, concurrency is not the cause;
 * 3. where a control is given (another version of the engine), the same there, held to its own promise;
 * 4. reduction by rate (`reduce-burst.ts`): sessions, repetitions and statements are taken away as long as one of so many runs still breaks
 *    the fact; the rate of the smallest burst is counted, and where none of its runs breaks it, that of the one before.
 *
 * A break that no second run shows is reported as seen once, and decides nothing. Runs and verdicts come from `runAndJudgeBy`, as those
 * of all other commands do; what is different here is only that verdicts are counted.
 */
import { type JudgedHistory, wentAway } from '../../check/index.js';
import { type Contract, describeKind, type Level } from '../../contracts/index.js';
import { errorText, IsoldeError } from '../../errors.js';
import { SessionPool } from '../../execute/index.js';
import { begunBy, capabilitiesOf } from '../../generate/index.js';
import type { TargetStamp } from '../../histories/index.js';
import { runAndJudgeBy, vendorContract } from '../../judge/index.js';
import type { Target } from '../../targets/index.js';
import { type Burst, type BurstForm, type BurstSize, burstCase, burstsOf } from './burst-form.js';
import { burstOracle, clauseOf, graphFact, outcomeOf } from './burst-oracle.js';
import type { BurstOutcome, BurstProgram } from './burst-program.js';
import { type ReducedBurst, reduceBurst } from './reduce-burst.js';

export interface BurstOptions extends BurstSize {
  readonly level: Level;
  readonly contract: Contract;
  readonly programs: readonly BurstProgram[];
  /** Only these forms; default: all that the dialect has. */
  readonly forms?: readonly BurstForm[] | undefined;
  /** The first burst to run, in the order of programs and forms; default 0. */
  readonly first?: number;
  /** Runs that confirm a break, and runs of each control. */
  readonly runs: number;
  /** Goes on with new bursts until then; undefined: one of each program. */
  readonly until?: (() => boolean) | undefined;
  /** Only without these parts of the programs. */
  readonly without?: readonly string[] | undefined;
  /** Another database to compare with; asked for when something is broken, and closed by the caller. */
  readonly control?: Target | (() => Promise<Target | undefined>) | undefined;
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
  /** Called when a burst has broken its fact, before that is confirmed. */
  readonly onBroken?: () => void;
}

/** How runs of one kind ended. */
export interface BurstRate {
  readonly runs: number;
  readonly broken: number;
  /** Runs that could not be judged. */
  readonly unknown: number;
  /** Each distinct outcome with its count, the commonest first. */
  readonly outcomes: readonly { readonly text: string; readonly count: number }[];
}

export interface BurstFinding {
  readonly program: string;
  readonly form: BurstForm;
  readonly fact: string;
  /** The database it was found on, and its level. */
  readonly target: TargetStamp;
  readonly level: Level;
  readonly contract: string;
  readonly clause: string;
  readonly size: BurstSize;
  readonly rate: BurstRate;
  readonly serial: BurstRate;
  /** On another database, and which. */
  readonly control?: (BurstRate & { readonly by?: string | undefined }) | undefined;
  /** Why there is no comparison with the other database, where there was one to compare with. */
  readonly uncompared?: string | undefined;
  /** The smallest burst that still breaks it, with its rate. */
  readonly reduced: ReducedBurst & { readonly rate: BurstRate };
  /** `once`: no other run showed it; `not isolation`: one session alone breaks it, too. */
  readonly verdict: 'confirmed' | 'once' | 'not isolation';
}

export interface BurstResult {
  readonly bursts: number;
  readonly transactions: number;
  /** Programs that the contract says nothing about. */
  readonly notAsked: readonly string[];
  /** Programs of statements that the database does not have. */
  readonly lacking: readonly string[];
  /** Bursts whose outcome could not be judged, by reason. */
  readonly undecided: Readonly<Record<string, number>>;
  readonly finding: BurstFinding | undefined;
}

/** Runs bursts in turn until one breaks its fact. */
export async function runBursts(target: Target, options: BurstOptions): Promise<BurstResult> {
  const { contract, programs, signal, first = 0 } = options;
  const all = burstsOf(programs, target, options, options.forms).map((burst) => ({
    ...burst,
    without: options.without,
  }));
  const asked = all.filter((burst) => clauseOf(burst, contract) !== undefined);
  const lab = await BurstLab.open(target, options);
  const undecided: Record<string, number> = {};
  let bursts = 0;
  try {
    while (asked.length > 0 && signal?.aborted !== true) {
      const burst = asked[(first + bursts) % asked.length]!;
      options.onProgress?.(`burst ${bursts + 1}: ${burst.program.name}, ${burst.form}`);
      const judged = await lab.judge(burst, options).catch(refused);
      const outcome: BurstOutcome =
        judged === undefined
          ? { kind: 'unknown', text: `the set-up of ${burst.program.name} as ${burst.form} was refused` }
          : outcomeOf(judged);
      bursts++;
      if (outcome.kind === 'unknown') undecided[outcome.text] = (undecided[outcome.text] ?? 0) + 1;
      if (judged !== undefined && outcome.kind === 'broken') {
        options.onBroken?.();
        return result(await pursueBurst(lab, burst, judged, options));
      }
      if (lab.stopped) break;
      const isLastOfTurn = bursts % asked.length === 0;
      if (options.until === undefined ? isLastOfTurn : options.until()) break;
    }
    return result(undefined);
  } finally {
    await lab.close();
  }

  function result(finding: BurstFinding | undefined): BurstResult {
    const isIn = (some: readonly Burst[], program: BurstProgram) =>
      some.some((burst) => burst.program === program);
    const able = burstsOf(programs, target, options);
    const notAsked = programs.filter((program) => isIn(able, program) && !isIn(asked, program));
    const lacking = programs.filter((program) => !isIn(able, program));
    const names = (some: readonly BurstProgram[]) => some.map(({ name }) => name);
    const counts = { bursts, transactions: lab.transactions, undecided };
    return { ...counts, notAsked: names(notAsked), lacking: names(lacking), finding };
  }
}

/** Nothing, for a set-up that the database refuses: not every engine of a dialect has procedures. */
function refused(error: unknown): undefined {
  if (error instanceof IsoldeError && error.code === 'target') return undefined;
  throw error;
}

async function pursueBurst(
  lab: BurstLab,
  burst: Burst,
  first: JudgedHistory,
  options: BurstOptions,
): Promise<BurstFinding> {
  const { runs, contract, control, level } = options;
  const { program, form } = burst;
  const size = { sessions: options.sessions, repeats: options.repeats };
  const again = await lab.rate(burst, size, { runs });
  const rate = rateOf([outcomeOf(first), ...again]);
  const { kind, clause } = first.findings[0]!;
  const serial = rateOf(await lab.rate(burst, size, { runs: Math.min(runs, 3), serial: true }));
  const compared = await compareWith(control, burst, options);
  const confirmed = again.some(isBroken);
  const start = { ...size, ...(burst.without && { without: burst.without }) };
  const way = confirmed ? await wayToSmallest(lab, burst, start, { runs, serial }) : [start];
  const reduced = await smallestThatBreaks(lab, burst, way, { runs, rate });
  const byFact = program.clause(contract) !== undefined;
  return {
    program: program.name,
    form,
    fact: kind !== 'broken-fact' ? describeKind(kind).expected : byFact ? program.fact : graphFact,
    target: lab.stamp,
    level,
    contract: contract.id,
    clause: clause ?? clauseOf(burst, contract)!,
    size,
    rate,
    serial,
    ...compared,
    reduced,
    verdict: serial.broken > 0 ? 'not isolation' : confirmed ? 'confirmed' : 'once',
  };
}

async function wayToSmallest(
  lab: BurstLab,
  burst: Burst,
  start: ReducedBurst,
  { runs, serial }: { readonly runs: number; readonly serial: BurstRate },
): Promise<readonly ReducedBurst[]> {
  return reduceBurst(burst, start, {
    shows: async (smaller, candidate) => {
      const outcomes = await lab.rate(candidate, smaller, { runs, untilBroken: true });
      return outcomes.some(isBroken);
    },
    // What one session alone breaks when a statement is missing is another break.
    isSilentAlone: async (smaller, candidate) =>
      serial.broken > 0 || !(await lab.rate(candidate, smaller, { runs: 1, serial: true })).some(isBroken),
    isStopped: () => lab.stopped,
    stays: lab.stays,
  });
}

/** The last burst on the way whose runs break the fact again; what one lucky run brought there may never show it. */
async function smallestThatBreaks(
  lab: BurstLab,
  burst: Burst,
  [start, ...smaller]: readonly ReducedBurst[],
  { runs, rate }: { readonly runs: number; readonly rate: BurstRate },
): Promise<BurstFinding['reduced']> {
  for (const each of smaller.toReversed()) {
    const again = rateOf(await lab.rate({ ...burst, without: each.without }, each, { runs }));
    if (lab.stopped) break;
    if (again.broken > 0) return { ...each, rate: again };
  }
  return { ...start!, rate };
}

const isBroken = ({ kind }: BurstOutcome) => kind === 'broken';

/**
 * The rate on the control, held to what that promises itself, or why it says nothing; neither where there is no control. The finding is
 * the other database's: whatever the control dies of, it ends as no comparison.
 */
async function compareWith(
  control: BurstOptions['control'],
  burst: Burst,
  options: BurstOptions,
): Promise<Pick<BurstFinding, 'control' | 'uncompared'>> {
  try {
    const other = typeof control === 'function' ? await control() : control;
    return other === undefined ? {} : await rateOn(other, burst, options);
  } catch (error) {
    return { uncompared: `could not be asked: ${errorText(error)}` };
  }
}

async function rateOn(
  other: Target,
  burst: Burst,
  options: BurstOptions,
): Promise<Pick<BurstFinding, 'control' | 'uncompared'>> {
  const { name, version } = other.stamp;
  const none = (why: string) => ({ uncompared: `${name} ${version} ${why}` });
  const contract = other.levels.some(({ level }) => level === options.level)
    ? vendorContract(other, options.level)
    : undefined;
  if (contract === undefined) return none(`promises nothing at ${options.level}`);
  if (burstsOf([burst.program], other, options, [burst.form]).length === 0) return none('cannot run it');
  if (clauseOf(burst, contract) === undefined) return none('does not promise it');
  const rate = await rateBurst(other, burst, { ...options, contract, size: options });
  return { control: { by: `${name} ${version}`, ...rate } };
}

/** A burst that was found before, so often: how many of the runs break its fact. */
export async function rateBurst(
  target: Target,
  burst: Burst,
  options: LabOptions & { readonly size: BurstSize; readonly runs: number },
): Promise<BurstRate> {
  const lab = await BurstLab.open(target, options);
  try {
    return rateOf(await lab.rate(burst, options.size, options));
  } finally {
    await lab.close();
  }
}

function rateOf(outcomes: readonly BurstOutcome[]): BurstRate {
  const counts = new Map<string, number>();
  for (const { text } of outcomes) counts.set(text, (counts.get(text) ?? 0) + 1);
  return {
    runs: outcomes.length,
    broken: outcomes.filter(({ kind }) => kind === 'broken').length,
    unknown: outcomes.filter(({ kind }) => kind === 'unknown').length,
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

  /** Parts without which the transactions would be of another kind: a lone statement is begun as a plain BEGIN is. */
  get stays(): readonly string[] {
    const { target, options } = this;
    const own = target.levels.find(({ level }) => level === options.level);
    return own?.plainBeginDiffers === true ? ['begin'] : [];
  }

  get stamp(): TargetStamp {
    return this.target.stamp;
  }

  async close(): Promise<void> {
    await this.sessions.close();
    // What a server left behind that is gone cannot be dropped.
    await this.scratch.drop().catch((error: unknown) => {
      if (!this.#lost) throw error;
    });
  }

  async rate(
    burst: Burst,
    size: BurstSize,
    asked: { readonly runs: number; readonly serial?: boolean; readonly untilBroken?: boolean },
  ): Promise<BurstOutcome[]> {
    const { runs, serial = false, untilBroken = false } = asked;
    const outcomes: BurstOutcome[] = [];
    for (let i = 0; i < runs && !this.stopped; i++) {
      const outcome = outcomeOf(await this.judge(burst, size, serial));
      // A run that was cut short is none.
      if (this.options.signal?.aborted !== true) outcomes.push(outcome);
      if (untilBroken && outcome.kind === 'broken') break;
    }
    return outcomes;
  }

  async judge(burst: Burst, size: BurstSize, serial = false): Promise<JudgedHistory> {
    const { level, contract, signal } = this.options;
    const { target, scratch, sessions } = this;
    const drawn = { ...burstCase(burst, target, size, serial), level };
    const begun = begunBy(drawn, capabilitiesOf(target));
    const judged = await runAndJudgeBy(
      burstOracle(burst),
      { case: begun, level, contract },
      { target, scratch, sessions, ...(signal === undefined ? {} : { signal }) },
    );
    const { operations } = judged.history;
    this.transactions += new Set(operations.map(({ transaction }) => transaction)).size;
    this.#lost ||= wentAway(judged.history);
    return judged;
  }
}
