/**
 * From a raw finding to a bug worth a report:
 *
 * 1. A free run gets an order first (`reproduce`): what cannot be scheduled cannot be shown to anybody. If the inferred order
 *    does not bring the finding back, another one is learnt from replays.
 * 2. Confirm: the scheduled case must show the same finding k times of k. What does not is not reported.
 * 3. A lock or a conflict that was passed over says little by itself: if an instrumented run of the same case shows what came
 *    of it (a committed write that is gone), that is followed instead.
 * 4. Reduce to the fewest statements that show it.
 * 5. A finding of a run with added SQL is tried again without, now that its case is small, also with a closing read and values of their
 *    own (`plain-witness.ts`): when a plain run shows something too, that is what is reported. It needs no added columns, and the same bug found either way gets one signature.
 *
 * 6. A second look by independent ways (`second-look.ts`): what needs no concurrency is marked as no bug of isolation, and what shows
 *    without concurrency only because of added SQL is not reported.
 *
 * A finding about the server is followed while no other lane runs anything: another lane's case may have killed it.
 */
import { type Finding, focusOf, identityOf, type OracleName, oracleNamed } from '../check/index.js';
import { type Contract, describeKind } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import type { Database, Observe } from '../judge/index.js';
import {
  type Candidate,
  DatabaseOracle,
  orderThatShows,
  type RawFinding,
  type ReductionResult,
  rawFinding,
  reduceCase,
  sqlAccesses,
  witnessOf,
} from '../reduce/index.js';
import type { SecondLook } from '../report/index.js';
import type { HuntRequest } from './hunt-request.js';
import { plainVariations } from './plain-witness.js';
import { lookAgain } from './second-look.js';

/** A finding with the run that shows it; the history's operations name statements of the request's case. */
export interface Raw {
  readonly request: HuntRequest;
  readonly finding: Finding;
  readonly history: History;
}

/** A confirmed, reduced finding. */
export interface Pursued {
  readonly oracle: OracleName;
  readonly result: ReductionResult;
  readonly finding: Finding;
  readonly history: History;
  readonly contract: Contract;
  /** What others said of it; absent: the pursuit was stopped before. */
  readonly secondLook?: readonly SecondLook[];
  readonly notIsolation?: true;
}

export type Outcome =
  | { readonly kind: 'bug'; readonly bug: Pursued }
  | { readonly kind: 'unconfirmed'; readonly why: string }
  | { readonly kind: 'cut' };

export interface PursueOptions {
  readonly database: Pick<Database, 'target' | 'observe' | 'alone'>;
  readonly lane: number;
  /** Replays that must all show the finding. */
  readonly confirmRuns: number;
  /** The contract that says how the engine orders things, for order inference. */
  readonly vendor: Contract;
  readonly mostTrials?: number;
  readonly signal?: AbortSignal;
  readonly onConfirmed?: () => void;
}

export async function pursue(raw: Raw, options: PursueOptions): Promise<Outcome> {
  const { database } = options;
  if (raw.finding.oracle !== 'server') return new Pursuit(options, database.observe).follow(raw);
  return database.alone((observe) => new Pursuit(options, observe).follow(raw));
}

const noPlainWitness: SecondLook = {
  by: 'plain run',
  says: 'undecided',
  note: 'no run without added SQL shows it, neither with closing reads nor with other values',
};

/** Findings that say how a rule was broken, not with what consequence. */
const isWithoutConsequence = ({ kind }: Finding): boolean => describeKind(kind).writeConflict === 'names';

/** A finding with an order for its case. */
interface Start extends Raw {
  readonly candidate: Candidate;
  /** The case and order come from the history of a free run. */
  readonly inferred?: RawFinding;
}

class Pursuit {
  constructor(
    private readonly options: PursueOptions,
    private readonly observe: Observe,
  ) {}

  async follow(raw: Raw): Promise<Outcome> {
    const { onConfirmed } = this.options;
    const confirmed = await this.#confirmInSomeOrder(this.#startOf(raw));
    if ('kind' in confirmed) return confirmed;
    onConfirmed?.();
    const { start, trials } = confirmed;
    const consequence = await this.#consequenceOf(start);
    if (consequence !== undefined) return this.#lookAgain(consequence, start.request);
    const reduced = await this.#reduce(start, trials);
    if (reduced === undefined)
      return { kind: 'unconfirmed', why: 'the reduced case does not show it every time' };
    const { oracle, contract } = start.request;
    if (oracleNamed(oracle).needs.run === 'plain' || contract.mechanism === undefined)
      return this.#lookAgain(reduced, start.request);
    const plain = this.#isStopped() ? undefined : await this.#withoutAddedSql(reduced, start.request);
    if (plain !== undefined || this.#isStopped()) return this.#lookAgain(plain ?? reduced, start.request);
    return this.#lookAgain({ ...reduced, secondLook: [noPlainWitness] }, start.request);
  }

  async #lookAgain(bug: Pursued, request: HuntRequest): Promise<Outcome> {
    if (this.#isStopped()) return { kind: 'bug', bug };
    const { database, lane, signal } = this.options;
    const { oracle, contract, result, finding, secondLook = [] } = bug;
    const looked = await lookAgain({ ...request, ...result.result, oracle, contract }, finding, {
      observe: this.observe,
      lane,
      dialect: database.target.dialect,
      signal,
    });
    if (looked.addedSqlAlone)
      return { kind: 'unconfirmed', why: 'it needs no concurrency, but SQL that only the oracle adds' };
    const { looks, notIsolation } = looked;
    return {
      kind: 'bug',
      bug: { ...bug, secondLook: [...looks, ...secondLook], ...(notIsolation && { notIsolation }) },
    };
  }

  /** The raw finding with a schedule: its own, or the one that explains what a free run saw. */
  #startOf(raw: Raw): Start {
    const { request, finding, history } = raw;
    const { schedule } = request;
    if (schedule !== undefined) return { ...raw, candidate: { case: request.case, schedule } };
    const inferred = rawFinding(history, this.options.vendor, [finding])!;
    return { ...startWith(request, inferred), inferred };
  }

  async #confirmInSomeOrder(
    start: Start,
  ): Promise<{ readonly start: Start; readonly trials: DatabaseOracle } | Exclude<Outcome, { kind: 'bug' }>> {
    const trials = this.#trials(start);
    const why = await this.#whyNotConfirmed(start, trials);
    if (this.#isStopped()) return { kind: 'cut' };
    if (why === undefined) return { start, trials };
    if (start.inferred === undefined) return { kind: 'unconfirmed', why };
    const learnt = await orderThatShows(start.inferred, trials, this.options.signal).catch(
      (error: unknown) => {
        if (this.#isStopped()) return undefined;
        throw error;
      },
    );
    if (this.#isStopped()) return { kind: 'cut' };
    if (learnt === undefined) return { kind: 'unconfirmed', why };
    return this.#confirmInSomeOrder(startWith(start.request, learnt));
  }

  #isStopped(): boolean {
    return this.options.signal?.aborted === true;
  }

  async #whyNotConfirmed({ candidate }: Start, trials: DatabaseOracle): Promise<string | undefined> {
    const { confirmRuns } = this.options;
    for (let run = 1; run <= confirmRuns && !this.#isStopped(); run++) {
      const { verdict, note } = await trials.runOnce(candidate, 0);
      if (verdict !== 'same')
        return `replay ${run} of ${confirmRuns}: ${verdict}${note === undefined ? '' : `, ${note}`}`;
    }
    return undefined;
  }

  /** Trials in this lane that look for one finding. */
  #trials({ request, finding, history }: Raw): DatabaseOracle {
    const { database, lane, signal } = this.options;
    const { oracle, level, contract } = request;
    const place = { database, observe: this.observe, lane };
    const trials = DatabaseOracle.inLane(place, { oracle, level, contract, ...(signal && { signal }) });
    trials.lookFor(identityOf(finding, history));
    return trials;
  }

  /** What an instrumented run shows of a broken rule's consequences, reduced; undefined: nothing that reproduces. */
  async #consequenceOf({ request, finding, candidate }: Start): Promise<Pursued | undefined> {
    if (!isWithoutConsequence(finding)) return undefined;
    const traced: HuntRequest = { ...request, ...candidate, oracle: 'dependency-graph' };
    const observed = await this.observe(traced, this.options.lane);
    if (observed.kind !== 'ran' || observed.findings.length === 0) return undefined;
    const { history, findings } = observed;
    const start: Start = { request: traced, finding: findings[0]!, history, candidate };
    return this.#reduce(start, this.#trials(start));
  }

  async #reduce(
    { request, candidate, finding, history }: Start,
    trials: DatabaseOracle,
  ): Promise<Pursued | undefined> {
    const { database, confirmRuns, mostTrials = 600, signal } = this.options;
    const { dialect } = database.target;
    const { oracle, contract, level } = request;
    const result = await reduceCase(candidate, {
      oracle: trials,
      startShows: true,
      witness: witnessOf(focusOf(finding), history, candidate),
      dependencies: (model) => sqlAccesses(model, dialect, history),
      // At another level another contract would hold.
      context: { dialect, levels: [level], level },
      confirmRuns,
      mostTrials,
      ...(signal && { signal }),
    });
    if ('notReproduced' in result) return undefined;
    if (!result.sameFinding && signal?.aborted !== true) return undefined;
    if (result.finding !== undefined && result.history !== undefined)
      return { oracle, contract, result, finding: result.finding, history: result.history };
    // Stopped in the middle: finding and history are those of the start, so the case must be, too.
    return { oracle, contract, result: { ...result, result: candidate }, finding, history };
  }

  /** The same bug in a plain run, if it shows in one. */
  async #withoutAddedSql({ result }: Pursued, request: HuntRequest): Promise<Pursued | undefined> {
    for (const candidate of plainVariations(result.result, this.options.database.target.dialect)) {
      if (this.#isStopped()) return undefined;
      const plain: HuntRequest = { ...request, ...candidate, oracle: 'mechanism' };
      const observed = await this.observe(plain, this.options.lane);
      if (observed.kind !== 'ran') continue;
      const finding = observed.findings.find((each) => !isWithoutConsequence(each));
      if (finding === undefined) continue;
      const start: Start = { request: plain, finding, history: observed.history, candidate };
      const reduced = await this.#reduce(start, this.#trials(start));
      if (reduced !== undefined) return reduced;
    }
    return undefined;
  }
}

/** A request that runs a candidate by its schedule; what it leaves behind is read by no observer. */
function startWith(
  request: HuntRequest,
  { candidate, finding, history }: Pick<Start, 'candidate' | 'finding' | 'history'>,
): Start {
  return { request: { ...request, ...candidate, observe: [] }, finding, history, candidate };
}
