/**
 * The hunt: rounds of generate, run, check; findings confirmed, reduced, grouped and handed to the shelf.
 *
 * 1. Lanes take groups of rounds (`round.ts`) in order of their numbers; each has a scratch of its own.
 * 2. A round's findings are distinguished by identity (what is wrong, in which roles). The first of an identity is pursued
 *    (`pursue.ts`), later ones less and less often (`pursued-again.ts`).
 * 3. A pursued bug has a signature (`dedupe`), and the shelf groups by it.
 * 4. The number up to which all rounds are done is reported as it grows, so that a later hunt can go on from there.
 * 5. A share of the time goes to bursts (`burst/`), for races that have no order.
 *
 * Stopped by its signal, a limit or the wanted number of bugs, it returns what it has.
 */

import { identityOf, oracles } from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type Capabilities, capabilitiesOf, knownTargets, learnFromHistory } from '../generate/index.js';
import type { TargetStamp } from '../histories/index.js';
import {
  contractAt,
  Database,
  type Observed,
  type RunRequest,
  usualChoice,
  vendorContract,
} from '../judge/index.js';
import type { KnownVerdict } from '../known/index.js';
import { type Bug, makeBug, sizeOfHistory } from '../report/index.js';
import type { Dialect } from '../sql/index.js';
import { UnreadableBug } from '../store/index.js';
import {
  type BurstFinding,
  BurstShare,
  type BurstShareOptions,
  burstNames,
  usualBurstShare,
} from './burst/index.js';
import { countRound, type HuntCounters, newCounters } from './counters.js';
import type { HuntEvent, HuntOptions, HuntResult, Shelved, ShelvedBurst } from './hunt-options.js';
import type { HuntRequest } from './hunt-request.js';
import { type Outcome, pursue, type Raw, type Shown } from './pursue.js';
import { isPursued } from './pursued-again.js';
import { groupSize, type Round, Rounds } from './round.js';
import { KnownPrograms } from './row-mirror.js';
import { Sibling } from './sibling.js';
import { countUndecided } from './undecided.js';

export async function hunt(options: HuntOptions): Promise<HuntResult> {
  const { signal, onEvent } = options;
  // What ends the hunt ends a run or a reduction under way, too.
  const stop = new AbortController();
  const forward = () => stop.abort();
  if (signal?.aborted === true) stop.abort();
  signal?.addEventListener('abort', forward);
  const counters = newCounters();
  const database = await Database.open({
    open: options.open,
    signal: stop.signal,
    ...(options.reopenMs === undefined ? {} : { reopenMs: options.reopenMs }),
    onReopen: (cause) => {
      counters.reopened++;
      onEvent?.({ kind: 'reopened', cause });
    },
  });
  const run = new Hunt(options, database, counters, stop);
  const { forMs } = options;
  const timers: NodeJS.Timeout[] = [];
  if (forMs !== undefined) {
    timers.push(setTimeout(() => run.timeUp(), forMs));
    timers.push(setTimeout(forward, forMs + Math.min(longestOvertimeMs, forMs)));
  }
  try {
    return await run.run();
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener('abort', forward);
    await database.close().catch(() => undefined);
    await run.sibling?.close();
  }
}

/** A finding under way when the time is up may take so long to be reduced: cut short, it would look like another bug. */
const longestOvertimeMs = 20_000;
/** At most so many findings of one round are looked at: a round that shows one bug often shows it many times. */
const mostPerRound = 3;
/** A program that could not be run so often is set aside. */
const mostFailures = 2;
/** Cases from which an engine without a table of capabilities is learned. */
const lessons = 24;

function siblingOf(
  { openSibling, openUsualSibling }: HuntOptions,
  hunted: TargetStamp,
  signal: AbortSignal,
): Sibling | undefined {
  if (openSibling !== undefined) return new Sibling(openSibling, 'always', signal);
  return openUsualSibling && new Sibling(() => openUsualSibling(hunted), 'first', signal);
}

class Hunt {
  readonly #now: () => number;
  readonly #began: number;
  readonly #levels: readonly Level[];
  readonly #seen = new Map<string, { count: number; bug?: string }>();
  readonly #bugs = new Map<string, Shelved>();
  readonly #doneGroups = new Set<number>();
  #fresh = 0;
  readonly #programs = new KnownPrograms();
  #nextGroup: number;
  #finished: number;
  #why: HuntResult['stopped'] = 'rounds';
  #pursuits = 0;
  #timeIsUp = false;
  readonly #bursts: BurstShare;
  readonly #brokenBursts: ShelvedBurst[] = [];
  readonly sibling: Sibling | undefined;

  constructor(
    private readonly options: HuntOptions,
    private readonly database: Database,
    private readonly counters: HuntCounters,
    private readonly stop: AbortController,
  ) {
    this.#now = options.now ?? (() => performance.now());
    this.#began = this.#now();
    this.sibling = siblingOf(options, database.target.stamp, stop.signal);
    this.#levels = options.levels ?? [database.target.defaultLevel];
    this.#finished = options.from ?? 0;
    this.#nextGroup = Math.floor(this.#finished / groupSize);
    this.#bursts = new BurstShare(shareOfBursts(options), this.#now);
  }

  async run(): Promise<HuntResult> {
    const { options, database, stop } = this;
    const contracts = this.#levels.map((level) => this.#contract(level));
    options.onEvent?.({ kind: 'opened', target: database.target, levels: this.#levels, contracts });
    const capabilities = await this.#capabilities();
    const lanes = Array.from({ length: options.jobs ?? 1 }, (_, lane) => this.#lane(lane, capabilities));
    try {
      await Promise.all(lanes);
    } catch (error) {
      // What one lane cannot go on without ends them all, before the database is closed under them.
      stop.abort();
      await Promise.allSettled(lanes);
      throw error;
    }
    if (stop.signal.aborted && this.#why === 'rounds') {
      this.#why = options.signal?.aborted === true ? 'interrupted' : 'time';
    }
    this.counters.seconds = this.#seconds();
    return {
      target: database.target.stamp,
      levels: this.#levels,
      counters: this.counters,
      bugs: [...this.#bugs.values()],
      bursts: this.#brokenBursts,
      finished: this.#finished,
      stopped: this.#why,
    };
  }

  /** No new rounds; findings under way are still brought to an end. */
  timeUp(): void {
    this.#timeIsUp = true;
    if (this.#pursuits === 0) this.stop.abort();
  }

  #seconds(): number {
    return (this.#now() - this.#began) / 1000;
  }

  /** What the engine is declared to support; what is learned of an engine without a table depends on nothing else. */
  async #capabilities(): Promise<Capabilities> {
    const { target } = this.database;
    let capabilities = capabilitiesOf(target);
    if (knownTargets.includes(target.name)) return capabilities;
    for (let lesson = 0; lesson < lessons && !this.stop.signal.aborted; lesson++) {
      const round = this.#rounds(capabilities, 'lesson').round(lesson * groupSize);
      const observed = await this.database.observe(this.#request(round), 0);
      if (observed.kind === 'ran') capabilities = learnFromHistory(capabilities, observed.history);
    }
    return capabilities;
  }

  #rounds(capabilities: Capabilities, seed: string): Rounds {
    const { profile, templates, found } = this.options;
    const contracts = this.#levels.map((level) => this.#contract(level));
    // An oracle takes part if it can judge at every level: which rounds are its own must not depend on the level.
    const judges = oracles.filter(
      (oracle) =>
        oracle.rounds !== undefined &&
        (this.options.oracles?.includes(oracle.name) ?? oracle.onlyIfNamed !== true) &&
        contracts.every((contract) => oracle.refuses?.(contract) === undefined),
    );
    if (judges.length === 0)
      throw new IsoldeError('usage', 'none of the oracles chosen can judge by these contracts');
    return new Rounds({
      seed,
      capabilities,
      ...(this.database.target.nodes && { nodes: this.database.target.nodes }),
      levels: this.#levels,
      oracles: judges.map(({ name, rounds = 1 }) => ({ name, rounds })),
      ...(profile === undefined ? {} : { profile }),
      ...(templates === undefined ? {} : { templates }),
      ...(found === undefined ? {} : { found }),
    });
  }

  #contract(level: Level): Contract {
    return contractAt(this.options.contract ?? usualChoice, this.database.target, level);
  }

  #request(round: Round): HuntRequest {
    return { ...round, contract: this.#contract(round.level) };
  }

  async #lane(lane: number, capabilities: Capabilities): Promise<void> {
    const rounds = this.#rounds(capabilities, this.options.seed);
    const { from = 0, to = Number.POSITIVE_INFINITY } = this.options;
    for (;;) {
      const group = this.#nextGroup++;
      const first = Math.max(from, group * groupSize);
      const end = Math.min(to, (group + 1) * groupSize);
      if (first >= end) return;
      // Rounds of a group share a program, all but the first ones: what cannot be run twice is not tried six times more.
      const failures = new Map<string, number>();
      for (let number = first; number < end; number++) {
        if (this.stop.signal.aborted || this.#timeIsUp) return;
        const round = rounds.round(number);
        const program = round.case.setup.join(';');
        const failed = failures.get(program) ?? 0;
        if (failed >= mostFailures) this.counters.roundsNotRun++;
        else if (!(await this.#round(round, lane))) failures.set(program, failed + 1);
        if (this.stop.signal.aborted) return;
        if (number === end - 1) this.#doneGroups.add(group);
        this.#progress(group, number);
      }
      if (lane === 0 && this.#bursts.isDue(1000 * this.#seconds())) await this.#burst();
    }
  }

  /** One burst. What it breaks is brought to an end, as any finding, before the time is up for good. */
  async #burst(): Promise<void> {
    const { database, options, counters, stop } = this;
    const { target } = database;
    let following = 0;
    const onBroken = () => {
      counters.raw++;
      following = 1;
      this.#pursuits++;
    };
    const place = {
      ...{ target, levels: this.#levels, contractAt: (level: Level) => this.#contract(level) },
      ...(this.sibling && { control: () => this.sibling!.target() }),
    };
    try {
      const found = await this.#bursts.run(place, { signal: stop.signal, onBroken });
      counters.bursts = this.#bursts.count;
      if (found?.verdict === 'once') counters.unconfirmed++;
      else if (found !== undefined) await this.#keepBurst(found, target.dialect);
    } catch (error) {
      // A database that went away is opened again by the next round.
      if (!stop.signal.aborted && !(error instanceof IsoldeError && isAboutDatabase(error))) throw error;
    } finally {
      this.#pursuits -= following;
    }
    if (this.#timeIsUp && this.#pursuits === 0) stop.abort();
    else options.onEvent?.(this.#progressEvent());
  }

  async #keepBurst(finding: BurstFinding, dialect: Dialect): Promise<void> {
    const { counters, options } = this;
    counters.confirmed++;
    if (await options.shelf.isIgnored(burstNames(finding))) {
      counters.ignored++;
      return;
    }
    counters.reduced++;
    const shelved = await options.shelf.addBurst!(finding, dialect);
    this.#brokenBursts.push(shelved);
    counters.firstBugSeconds ??= this.#seconds();
    options.onEvent?.({ kind: 'burst', shelved, seconds: this.#seconds() });
    if (shelved.isNew) this.#countNew();
  }

  /** The finished prefix grows only where no round before is still to be done. */
  #progress(group: number, number: number): void {
    const { to = Number.POSITIVE_INFINITY } = this.options;
    const groupOf = (round: number) => Math.floor(round / groupSize);
    if (groupOf(this.#finished) === group) this.#finished = Math.min(to, number + 1);
    while (this.#doneGroups.delete(groupOf(this.#finished))) {
      this.#finished = Math.min(to, (groupOf(this.#finished) + 1) * groupSize);
    }
    this.options.onEvent?.(this.#progressEvent());
  }

  #progressEvent(): HuntEvent {
    const { counters } = this;
    counters.seconds = this.#seconds();
    const distinct = this.#bugs.size + this.#brokenBursts.length;
    return { kind: 'progress', counters, finished: this.#finished, distinct };
  }

  /** Whether the round could be run. */
  async #round(round: Round, lane: number): Promise<boolean> {
    const request = this.#request(round);
    const observed: Observed = await this.database.observe(request, lane);
    if (observed.kind !== 'ran') {
      if (this.stop.signal.aborted) return true;
      this.counters.roundsNotRun++;
      if (observed.kind === 'bad-setup')
        this.options.onEvent?.({ kind: 'refused', round, message: observed.message });
      return false;
    }
    const { history, findings, valid, unknownReasons } = observed;
    countRound(this.counters, history, this.#programs);
    if (valid === 'unknown') countUndecided(this.counters, unknownReasons);
    this.options.onRound?.(round, history);
    const identities = new Set<string>();
    for (const finding of findings) {
      this.counters.raw++;
      const identity = identityOf(finding, history);
      if (identities.has(identity) || identities.size >= mostPerRound) continue;
      identities.add(identity);
      await this.#consider({ request, finding, history }, round, lane, identity);
      if (this.stop.signal.aborted) break;
    }
    return true;
  }

  async #consider(raw: Raw, round: Round, lane: number, identity: string): Promise<void> {
    const { counters, options, database } = this;
    const known = this.#seen.get(identity) ?? { count: 0 };
    this.#seen.set(identity, known);
    known.count++;
    if (!isPursued(known, raw.finding)) {
      counters.repeats++;
      if (known.bug !== undefined) options.shelf.seenAgain(known.bug);
      return;
    }
    options.onEvent?.({ kind: 'pursuing', round, finding: raw.finding.kind });
    this.#pursuits++;
    let confirmed = 0;
    try {
      const outcome: Outcome = await pursue(raw, {
        database,
        lane,
        confirmRuns: options.confirmRuns ?? 3,
        vendor: vendorContract(database.target, round.level) ?? raw.request.contract,
        signal: this.stop.signal,
        sibling: this.sibling,
        passesOver: (shown) => options.shelf.isIgnored(this.#named(shown)),
        onConfirmed: () => {
          counters.confirmed++;
          confirmed++;
        },
      });
      // It came back, but a second look refused it: it counts as one of the two.
      if (outcome.kind === 'unconfirmed') counters.confirmed -= confirmed;
      await this.#settle(outcome, { raw, round, lane, known });
    } finally {
      this.#pursuits--;
    }
    if (this.#timeIsUp && this.#pursuits === 0) this.stop.abort();
  }

  async #settle(outcome: Outcome, pursuit: Pursuit): Promise<void> {
    const { raw, round, known } = pursuit;
    const { counters, options } = this;
    if (outcome.kind === 'cut') return;
    if (outcome.kind === 'passed-over') {
      counters.ignored++;
      return;
    }
    if (outcome.kind === 'unconfirmed') {
      counters.unconfirmed++;
      options.onEvent?.({ kind: 'unconfirmed', round, finding: raw.finding.kind, why: outcome.why });
      await options.shelf.keepUnconfirmed?.(round, raw.history, outcome.why);
      return;
    }
    // Cut short, it would look like another bug; what it looks like is kept already.
    const halfDone = this.stop.signal.aborted && !outcome.bug.result.minimal;
    if (halfDone && known.bug !== undefined) return;
    counters.reduced++;
    await this.#keep(outcome, pursuit);
  }

  /** A case that shows a finding, with the names that its bug would have. */
  #named(shown: Shown): Pick<Bug, 'id' | 'signature'> {
    return makeBug({ ...shown, reproduced: { shown: 1, runs: 1 }, at: new Date(0).toISOString() });
  }

  /** Cases of known bugs run where this one was found; a bug that this hunt has met before was asked about then. */
  async #identify(bug: Bug, lane: number): Promise<KnownVerdict | undefined> {
    const { database, options, stop } = this;
    if (options.identify === undefined || this.#bugs.has(bug.id) || stop.signal.aborted) return undefined;
    const observe = (request: RunRequest) => database.observe(request, lane);
    const verdict = await options.identify(bug, { target: database.target, observe });
    return stop.signal.aborted ? undefined : verdict;
  }

  async #keep({ bug: pursued }: Outcome & { kind: 'bug' }, pursuit: Pursuit): Promise<void> {
    const { raw, round, known } = pursuit;
    const { counters, options } = this;
    const { result, finding, history, secondLook, notIsolation } = pursued;
    const replay = options.replayLine?.(round.number);
    const runs = result.confirmed.runs === 0 ? (options.confirmRuns ?? 3) : result.confirmed.runs;
    const found = makeBug({
      case: result.result.case,
      schedule: result.result.schedule,
      finding,
      history,
      reproduced: { shown: result.confirmed.runs === 0 ? runs : result.confirmed.shown, runs },
      at: options.date?.() ?? new Date().toISOString(),
      seed: options.seed,
      ...(replay === undefined ? {} : { replay }),
      environment: options.environment,
      raw: sizeOfHistory(raw.history),
      ...(secondLook && { secondLook }),
      ...(notIsolation && { notIsolation }),
    });
    known.bug = found.id;
    if (await options.shelf.isIgnored(found)) {
      counters.ignored++;
      return;
    }
    const verdict = await this.#identify(found, pursuit.lane);
    const bug = verdict === undefined ? found : { ...found, known: verdict };
    const shelved = await options.shelf.add(bug, raw.history).catch((error: unknown) => {
      if (!(error instanceof UnreadableBug)) throw error;
      options.onEvent?.({ kind: 'not-kept', round, why: error.message });
      return undefined;
    });
    if (shelved === undefined) return;
    counters.firstBugSeconds ??= this.#seconds();
    const first = !this.#bugs.has(shelved.bug.id);
    if (first) this.#bugs.set(shelved.bug.id, shelved);
    if (!first) return;
    options.onEvent?.({ kind: 'bug', shelved, round, seconds: this.#seconds() });
    if (shelved.isNew) this.#countNew();
  }

  /** One more that the shelf did not have: it may be the last one wanted. */
  #countNew(): void {
    const { bugs } = this.options;
    this.#fresh++;
    if (bugs === undefined || this.#fresh < bugs) return;
    this.#why = 'bugs';
    this.stop.abort();
  }
}

/** A finding that is followed, and where. */
interface Pursuit {
  readonly raw: Raw;
  readonly round: Round;
  readonly lane: number;
  readonly known: { bug?: string };
}

/** What a user chose to hunt with leaves no room for bursts; and what cannot be kept is not looked for. */
function shareOfBursts({ bursts, profile, oracles, shelf }: HuntOptions): BurstShareOptions {
  if (shelf.addBurst === undefined) return { share: 0 };
  return bursts ?? { share: profile === undefined && oracles === undefined ? usualBurstShare : 0 };
}

function isAboutDatabase({ code }: IsoldeError): boolean {
  return code === 'connect' || code === 'target';
}
