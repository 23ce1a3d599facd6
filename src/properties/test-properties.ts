/**
 * The loop: plan after plan from one seed, each on an empty scratch. A failure must come back before it is believed, is
 * shrunk, and is reported once; the same failure in later plans is only counted.
 *
 * What the database refuses as unknown or unsupported is learned on the way (`generate/learn`), so that an engine under
 * development is asked for less of what it cannot do; it is never a failure. What worked in an earlier build is asked for all the same, and is
 * `lost` if it is refused now.
 */
import type { Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import {
  type Capabilities,
  capabilitiesOf,
  type Feature,
  FeatureLog,
  type LostFeature,
  learnFromStatements,
  type Profile,
} from '../generate/index.js';
import { vendorContract } from '../judge/index.js';
import { nameKey, parseStatement } from '../sql/index.js';
import type { Scratch, Target } from '../targets/index.js';
import { compareRuns } from './compare-runs.js';
import type { FaultKind } from './fault-kinds.js';
import { generatePlan } from './generate-plan.js';
import type { Plan } from './interaction.js';
import type { Mix, Property } from './property.js';
import { firstWords, type PlanFailure, type PlanOutcome, type PlanPlace, runPlan } from './run-plan.js';
import { shrinkPlan } from './shrink.js';
import { stillHasToHold } from './still-holds.js';
import { tablesIn } from './tables-named.js';

export interface PropertyTestOptions {
  readonly open: () => Promise<Target>;
  readonly properties: readonly Property[];
  readonly seed: string;
  /** Stop after so many plans. */
  readonly plans?: number | undefined;
  /** Stop after this time. */
  readonly forMs?: number | undefined;
  /** Stop after so many different failures; default 1. */
  readonly failures?: number;
  readonly level?: Level | undefined;
  readonly length?: number | undefined;
  readonly workload?: Mix | undefined;
  readonly profile?: Profile;
  readonly capabilities?: Capabilities | undefined;
  /** What worked in an earlier build, and is asked for again; default: what `capabilities` has proven. */
  readonly proven?: readonly Feature[] | undefined;
  /** How often a failure must come back; default 2. */
  readonly confirm?: number;
  readonly shrink?: boolean;
  readonly judgeReads?: boolean;
  /** A database that promises the same: every plan runs there, too, and the answers are compared. */
  readonly reference?: (() => Promise<Target>) | undefined;
  /** Every plan runs a second time on the same database; the answers, and the file of an embedded engine, must be the same. */
  readonly twice?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly now: () => number;
  readonly onPlan?: (progress: PropertyProgress) => void;
}

export interface PropertyProgress {
  readonly plans: number;
  readonly counts: Counts;
  readonly failures: readonly Counterexample[];
}

/** A failure with the smallest plan found that shows it. */
export interface Counterexample {
  readonly failure: PlanFailure;
  /** Of the plan, as generated. */
  readonly seed: string;
  readonly original: Plan;
  readonly plan: Plan;
  /** The shrunk plan's last run. */
  readonly outcome: PlanOutcome;
  readonly trials: number;
  readonly minimal: boolean;
  readonly level: Level;
  readonly target: Target['stamp'];
  /** How many plans failed like this. */
  seen: number;
}

export interface Counts {
  readonly statements: number;
  readonly asserted: number;
  readonly undecided: number;
  readonly voided: number;
  readonly faults: number;
}

export interface PropertyTestResult extends PropertyProgress {
  /** What the target can do, with what was learned. */
  readonly capabilities: Capabilities;
  /** What worked in an earlier build and is refused now. */
  readonly lost: readonly LostFeature[];
  /** Failures that did not come back. */
  readonly unconfirmed: number;
  /** Properties whose assertion the shadow state contradicts too. */
  readonly mistaken: readonly string[];
  /** Properties left out, and why. */
  readonly leftOut: readonly { readonly property: string; readonly why: string }[];
}

export async function testProperties(options: PropertyTestOptions): Promise<PropertyTestResult> {
  const target = await options.open();
  let reference: Target | undefined;
  try {
    reference = await options.reference?.();
    if (reference !== undefined && reference.dialect !== target.dialect)
      throw new IsoldeError(
        'usage',
        `${reference.name} speaks ${reference.dialect}, ${target.name} ${target.dialect}: their answers cannot be compared`,
      );
  } catch (error) {
    await Promise.all([target.close(), reference?.close()]);
    throw error;
  }
  const test = new PropertyTest(options, target, reference);
  try {
    return await test.run();
  } finally {
    await test.close();
  }
}

class PropertyTest {
  #target: Target;
  #capabilities: Capabilities;
  readonly #level: Level;
  readonly #reference: Target | undefined;
  readonly #found = new Map<string, Counterexample>();
  readonly #mistaken = new Set<string>();
  readonly #counts = { statements: 0, asserted: 0, undecided: 0, voided: 0, faults: 0 };
  readonly #log: FeatureLog;
  #unconfirmed = 0;

  constructor(
    readonly options: PropertyTestOptions,
    target: Target,
    reference: Target | undefined,
  ) {
    this.#target = target;
    this.#reference = reference;
    this.#level = options.level ?? target.defaultLevel;
    const { proven } = options;
    this.#capabilities = options.capabilities ?? { ...capabilitiesOf(target), ...(proven && { proven }) };
    this.#log = new FeatureLog(target.dialect);
  }

  async close(): Promise<void> {
    await this.#target.close().catch(() => undefined);
    await this.#reference?.close().catch(() => undefined);
  }

  async run(): Promise<PropertyTestResult> {
    const { options } = this;
    const { fitting, leftOut } = await this.#fitting();
    if (fitting.length === 0) {
      const why = leftOut.map(({ property, why }) => `${property}: ${why}`).join('; ');
      throw new IsoldeError('usage', `no property can be tested on this database: ${why}`);
    }
    const end = options.now() + (options.forMs ?? Number.POSITIVE_INFINITY);
    let plans = 0;
    const more = () =>
      options.signal?.aborted !== true &&
      plans < (options.plans ?? Number.POSITIVE_INFINITY) &&
      this.#found.size < (options.failures ?? 1) &&
      (plans === 0 || options.now() < end);
    while (more()) {
      await this.#onePlan(`${options.seed}-${plans}`, fitting);
      plans++;
      options.onPlan?.(this.#progress(plans));
    }
    return {
      ...this.#progress(plans),
      capabilities: this.#capabilities,
      lost: this.#log.lost(options.proven ?? options.capabilities?.proven ?? []),
      unconfirmed: this.#unconfirmed,
      mistaken: [...this.#mistaken],
      leftOut,
    };
  }

  #progress(plans: number): PropertyProgress {
    return { plans, counts: { ...this.#counts }, failures: [...this.#found.values()] };
  }

  get #place(): Omit<PlanPlace, 'scratch'> {
    return placeOf(this.#target, this.#level, this.options.signal);
  }

  async #onePlan(seed: string, properties: readonly Property[]): Promise<void> {
    const { length, workload, profile, judgeReads } = this.options;
    const plan = generatePlan(seed, {
      properties,
      capabilities: this.#capabilities,
      shadow: shadowOf(this.#target, this.#level),
      ...(length !== undefined && { length }),
      ...(workload !== undefined && { workload }),
      ...(profile !== undefined && { profile }),
      ...(judgeReads !== undefined && { judgeReads }),
    });
    const outcome = await this.#execute(plan);
    this.#count(plan, outcome);
    const { failure } = outcome;
    if (failure === undefined) return;
    const known = this.#found.get(failure.identity);
    if (known !== undefined) {
      known.seen++;
      return;
    }
    await this.#pursue(plan, failure);
  }

  /** A failure that comes back is shrunk and kept. */
  async #pursue(plan: Plan, failure: PlanFailure): Promise<void> {
    const { confirm = 2, shrink = true, signal } = this.options;
    const { dialect } = this.#target;
    const reproduces = async (smaller: Plan) => {
      const { failure: again } = await this.#execute(smaller);
      return again?.identity === failure.identity && stillHasToHold(again, smaller, plan, dialect);
    };
    for (let again = 0; again < confirm; again++) {
      if (await reproduces(plan)) continue;
      if (signal?.aborted !== true) this.#unconfirmed++;
      return;
    }
    const shrunk = shrink
      ? await shrinkPlan(plan, { dialect, reproduces, failedAt: failure.at, signal })
      : { plan, trials: 0, minimal: false };
    const outcome = await this.#execute(shrunk.plan);
    const same = outcome.failure?.identity === failure.identity ? outcome.failure : undefined;
    this.#found.set(failure.identity, {
      ...shrunk,
      failure: same ?? failure,
      seed: plan.seed,
      original: plan,
      outcome,
      level: this.#level,
      target: this.#target.stamp,
      seen: 1,
    });
  }

  /** Runs a plan where it has to run: once, a second time, on the reference. */
  async #execute(plan: Plan): Promise<PlanOutcome> {
    const first = await this.#executeOnce(plan);
    if (first.failure !== undefined || this.options.signal?.aborted === true) return first;
    if (this.options.twice === true) {
      const again = await this.#executeOnce(plan);
      const failure = this.#compared(first, again, 'the second run', this.#target.name);
      if (failure !== undefined) return { ...first, failure };
    }
    if (this.#reference === undefined) return first;
    const scratch = await this.#reference.createScratch();
    try {
      const place = placeOf(this.#reference, this.#level, this.options.signal);
      const other = await runPlan(plan, { ...place, scratch });
      const failure = this.#compared(first, other, this.#reference.stamp.version, this.#reference.name);
      return failure === undefined ? first : { ...first, failure };
    } finally {
      await scratch.drop().catch(() => undefined);
    }
  }

  #compared(first: Ran, other: Ran, which: string, right: string): PlanFailure | undefined {
    const { name, dialect } = this.#target;
    const bothTold = first.digest !== undefined && other.digest !== undefined;
    const found =
      compareRuns(first, other, { left: name, right, dialect }) ??
      (bothTold && first.digest !== other.digest
        ? {
            at: -1,
            sql: 'the file',
            kind: 'content' as const,
            left: first.digest ?? '',
            right: other.digest ?? '',
          }
        : undefined);
    if (found === undefined) return undefined;
    return {
      kind: 'difference',
      property: right === name && this.#reference === undefined ? 'the same twice' : `the same as ${right}`,
      ...(found.at >= 0 && { at: found.at }),
      identity: `difference of ${found.kind}${found.refused === undefined ? '' : `: ${firstWords(found.refused)}`}`,
      message: `"${found.sql}" gives ${found.left}, and on ${right} (${which}) ${found.right}`,
    };
  }

  async #executeOnce(plan: Plan): Promise<Ran> {
    const scratch = await this.#scratch();
    const outcome = await runPlan(plan, { ...this.#place, scratch });
    const digest =
      this.options.twice === true && !outcome.broken
        ? await scratch.digest?.().catch(() => undefined)
        : undefined;
    if (outcome.broken) await this.#reopen();
    else await scratch.drop().catch(() => this.#reopen());
    return { ...outcome, ...(digest !== undefined && { digest }) };
  }

  async #scratch(): Promise<Scratch> {
    try {
      return await this.#target.createScratch();
    } catch {
      await this.#reopen();
      return this.#target.createScratch();
    }
  }

  /** The database went away: a new one. */
  async #reopen(): Promise<void> {
    await this.#target.close().catch(() => undefined);
    this.#target = await this.options.open();
  }

  #count(plan: Plan, { counts, sent, mistaken }: PlanOutcome): void {
    for (const name of Object.keys(this.#counts) as (keyof Counts)[]) this.#counts[name] += counts[name];
    for (const name of mistaken) this.#mistaken.add(name);
    const worked = sent.filter(({ answer }) => answer.error === undefined).map(({ sql }) => sql);
    // A failure that was asked for (a table that is gone) says nothing about what the database can do.
    const refused = sent
      .filter(({ answer }) => answer.error?.class === 'unsupported' || answer.error?.class === 'syntax')
      .filter(({ interaction }) => !mayFail(plan, interaction))
      .map(({ sql }) => sql);
    this.#log.add({ worked, refused: this.#onTablesThere(worked, refused) });
    this.#capabilities = learnFromStatements(this.#capabilities, { worked, refused });
  }

  /** Without statements on tables that could not be created: they fail for that, whatever else they use. */
  #onTablesThere(worked: readonly string[], refused: readonly string[]): string[] {
    const { dialect } = this.#target;
    const created = new Set(worked.flatMap((sql) => createdBy(sql, dialect)));
    return refused.filter(
      (sql) =>
        createdBy(sql, dialect).length > 0 ||
        [...tablesIn(parseStatement(sql, dialect), dialect)].every((name) => created.has(name)),
    );
  }

  /** The properties this database and level can be held to. */
  async #fitting(): Promise<{ fitting: Property[]; leftOut: { property: string; why: string }[] }> {
    const scratch = await this.#scratch();
    const faults = supportedFaults(this.#target, scratch);
    await scratch.drop().catch(() => undefined);
    const { pivot } = shadowOf(this.#target, this.#level);
    const fitting: Property[] = [];
    const leftOut: { property: string; why: string }[] = [];
    for (const each of this.options.properties) {
      const why = misfit(each, this.#target, { pivot, faults, level: this.#level });
      if (why === undefined) fitting.push(each);
      else leftOut.push({ property: each.name, why });
    }
    return { fitting, leftOut };
  }
}

/** A run, with a digest of the file it left where both are asked for and there is one. */
interface Ran extends PlanOutcome {
  readonly digest?: string;
}

function placeOf(target: Target, wanted: Level, signal: AbortSignal | undefined): Omit<PlanPlace, 'scratch'> {
  const level = target.levels.some((each) => each.level === wanted) ? wanted : target.defaultLevel;
  return { target, level, shadow: shadowOf(target, level), ...(signal && { signal }) };
}

function misfit(
  { needs }: Property,
  { features }: Target,
  {
    pivot,
    faults,
    level,
  }: { pivot: PlanPlace['shadow']['pivot']; faults: ReadonlySet<FaultKind>; level: Level },
): string | undefined {
  if (needs.snapshot === true && (pivot === 'statement' || pivot === 'uncommitted'))
    return `${level} promises no snapshot`;
  if (needs.savepoints === true && !features.savepoints) return 'the database has no savepoints';
  if (needs.transactions === true && (features.maxSessions ?? 2) < 2) return 'the database has one session';
  if (needs.fault !== undefined && !faults.has(needs.fault))
    return `the fault ${needs.fault} cannot be given here`;
  return undefined;
}

function createdBy(sql: string, dialect: Target['dialect']): string[] {
  const statement = parseStatement(sql, dialect);
  return statement.type === 'create-table' ? [nameKey(statement.name, dialect)] : [];
}

function mayFail({ interactions }: Plan, at: number): boolean {
  const each = interactions[at];
  return each?.type === 'statement' && each.mayFail === true;
}

/** The faults a target can be given. */
function supportedFaults(target: Target, scratch: Scratch): ReadonlySet<FaultKind> {
  const { dialect, features } = target;
  const possible: [FaultKind, boolean][] = [
    ['reconnect', true],
    ['reconnect-all', true],
    ['reopen', scratch.reopen !== undefined],
    ['kill', target.kill !== undefined],
    ['cancel', features.cancel],
    ['write-error', target.limitWrites !== undefined],
    ['checkpoint', dialect !== 'mysql'],
    ['vacuum', dialect !== 'mysql'],
  ];
  return new Set(possible.filter(([, can]) => can).map(([fault]) => fault));
}

/** What the shadow state must know of a target at a level. A level nobody wrote down is taken to promise no snapshot. */
export function shadowOf(target: Target, level: Level): PlanPlace['shadow'] {
  const mechanism = vendorContract(target, level)?.mechanism;
  const moves = mechanism?.snapshotMoves === true;
  return {
    pivot: mechanism === undefined || moves ? 'statement' : mechanism.pivot,
    ddlCommits: !target.features.transactionalDdl,
  };
}
