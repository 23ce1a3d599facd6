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
 *    own (`plain-witness.ts`): when a plain run shows something too, that is what is reported. It needs no added columns, and the same bug
 *    found either way gets one signature.
 * 6. A second look by independent ways (`second-look.ts`): what needs no concurrency is marked as no bug of isolation, and what shows
 *    without concurrency only because of added SQL is not reported.
 * 7. Where the damage shows only later (a write that was accepted and is gone), the case gets a closing read of the tables whose rows
 *    are not what the answers say (`report/closing-reads.ts`): the case then proves itself, in a plain run, too.
 *
 * A finding about the server is followed while no other lane runs anything: another lane's case may have killed it.
 */
import type { ScheduledCase, StatementRef } from '../cases/index.js';
import {
  type Finding,
  focusOf,
  identityOf,
  isServerFailure,
  type OracleName,
  oracleNamed,
  oraclesFor,
} from '../check/index.js';
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
  type TrialOracle,
  type TrialResult,
  witnessOf,
} from '../reduce/index.js';
import { closingDamage, type NewBug, plainRun, type SecondLook } from '../report/index.js';
import { withAllRead, withClosingReads } from './closing-reads.js';
import type { HuntRequest } from './hunt-request.js';
import { plainVariations } from './plain-witness.js';
import { lookAgain } from './second-look.js';
import type { Sibling } from './sibling.js';

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
  /** It is one that hunts pass over, as was seen before it was reduced to the end. */
  | { readonly kind: 'passed-over' }
  | { readonly kind: 'unconfirmed'; readonly why: string }
  | { readonly kind: 'cut' };

/** A case and a run of it that shows its finding. */
export type Shown = Pick<NewBug, 'case' | 'schedule' | 'finding' | 'history'>;

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
  /** Another engine or version that is asked about what is found. */
  readonly sibling?: Sibling | undefined;
  /** Whether a case that shows the finding is that of a bug to be passed over. */
  readonly passesOver?: (shown: Shown) => Promise<boolean>;
}

export async function pursue(raw: Raw, options: PursueOptions): Promise<Outcome> {
  const { database } = options;
  if (!isServerFailure(raw.finding)) return new Pursuit(options, database.observe).follow(raw);
  return database.alone((observe) => new Pursuit(options, observe).follow(raw));
}

const noPlainWitness: SecondLook = {
  by: plainRun,
  says: 'undecided',
  note: 'no run without added SQL shows it, neither with closing reads nor with other values',
};

/** Whether a bug rests on what added SQL shows, where a plain run could be judged, too. */
const needsPlainWitness = ({ oracle, contract }: Pursued): boolean =>
  oracleNamed(oracle).needs.run !== 'plain' && plainOracle(contract) !== undefined;

/** Findings that say how a rule was broken, not with what consequence. */
const isWithoutConsequence = ({ kind }: Finding): boolean => describeKind(kind).writeConflict === 'names';

/** A finding with an order for its case. */
interface Start extends Raw {
  readonly candidate: Candidate;
  /** The case and order come from the history of a free run. */
  readonly inferred?: RawFinding;
}

class Pursuit {
  #passedOver = false;

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
    if (this.#passedOver) return { kind: 'passed-over' };
    const reduced = consequence ?? (await this.#reduce(start, trials));
    if (this.#passedOver) return { kind: 'passed-over' };
    if (reduced === undefined)
      return { kind: 'unconfirmed', why: 'the reduced case does not show it every time' };
    const plain = needsPlainWitness(reduced)
      ? await this.#withoutAddedSql(reduced, start.request)
      : undefined;
    return this.#lookAgain(plain ?? reduced, start.request);
  }

  async #lookAgain(bug: Pursued, request: HuntRequest): Promise<Outcome> {
    if (this.#isStopped()) return { kind: 'bug', bug };
    const { database, lane, signal } = this.options;
    const { oracle, contract, result, finding } = bug;
    const shownBy: HuntRequest = { ...request, ...result.result, oracle, contract };
    const looked = await lookAgain(shownBy, finding, {
      observe: this.observe,
      lane,
      dialect: database.target.dialect,
      signal,
    });
    if (looked.refused !== undefined) return { kind: 'unconfirmed', why: looked.refused };
    const other = await this.options.sibling?.look(shownBy, finding, lane);
    const looks = [...looked.looks, ...(other === undefined ? [] : [other])];
    const { notIsolation } = looked;
    const seen = { ...bug, secondLook: looks, ...(notIsolation && { notIsolation }) };
    // What needs no concurrency is identified by its whole case.
    const shown = notIsolation ? seen : await this.#withDamageShown(seen, request);
    const hidden = shown === seen && needsPlainWitness(seen) && !this.#isStopped();
    return { kind: 'bug', bug: hidden ? { ...seen, secondLook: [...looks, noPlainWitness] } : shown };
  }

  /** The bug with closing reads that show what came of it; as it is where they show nothing, or not every time. */
  async #withDamageShown(bug: Pursued, request: HuntRequest): Promise<Pursued> {
    const { database, confirmRuns } = this.options;
    const { result, oracle, contract, finding, history } = bug;
    if (isServerFailure(finding) || !result.minimal || this.#isStopped()) return bug;
    const trials = this.#trials({ request: { ...request, oracle, contract }, finding, history });
    const all = withAllRead(result.result, database.target.dialect);
    const reads = await this.#damagedReads(all, trials);
    if (reads === undefined || reads.length === 0) return bug;
    const shown = withClosingReads(result.result.case, result.result.schedule, reads);
    const byPlain = plainOracle(contract);
    if (byPlain === undefined) return bug;
    const plain: HuntRequest = { ...request, ...shown, oracle: byPlain, observe: [] };
    const inPlain = await this.observe(plain, this.options.lane);
    if (inPlain.kind !== 'ran' || closingReadsOf(inPlain.history, bug) !== reads.length) return bug;
    for (let run = 1; ; run++) {
      const trial = await trials.runOnce(shown, 0);
      if (this.#isStopped() || trial.verdict !== 'same') return bug;
      const proved = { finding: trial.finding!, history: trial.history! };
      if (closingDamage(proved).length !== reads.length) return bug;
      if (run === confirmRuns) return { ...bug, ...proved, result: { ...result, result: shown } };
    }
  }

  /** The closing reads that show damage; undefined: the case does not show the finding with them. */
  async #damagedReads(
    candidate: Required<ScheduledCase>,
    trials: DatabaseOracle,
  ): Promise<readonly string[] | undefined> {
    const { verdict, finding, history } = await trials.runOnce(candidate, 0);
    if (verdict !== 'same' || finding === undefined || history === undefined) return undefined;
    return closingDamage({ finding, history }).map(({ operation }) => operation.sql!);
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
    const tracing = oraclesFor(request.contract).find(({ tracesVersions }) => tracesVersions === true);
    if (tracing === undefined) return undefined;
    const traced: HuntRequest = { ...request, ...candidate, oracle: tracing.name };
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
    const { database, confirmRuns, mostTrials = 600 } = this.options;
    const { dialect } = database.target;
    const { oracle, contract, level } = request;
    const passing = new AbortController();
    const signal = AbortSignal.any([passing.signal, ...(this.options.signal ? [this.options.signal] : [])]);
    const result = await reduceCase(candidate, {
      oracle: this.#watched(trials, passing),
      startShows: true,
      witness: witnessOf(focusOf(finding), history, candidate),
      dependencies: (model) => sqlAccesses(model, dialect, history),
      // At another level another contract would hold.
      context: { dialect, levels: [level], level },
      confirmRuns,
      mostTrials,
      signal,
    });
    if (passing.signal.aborted) this.#passedOver = !this.#isStopped();
    if ('notReproduced' in result) return undefined;
    if (!result.sameFinding && !signal.aborted) return undefined;
    if (result.finding !== undefined && result.history !== undefined)
      return { oracle, contract, result, finding: result.finding, history: result.history };
    // Stopped in the middle: finding and history are those of the start, so the case must be, too.
    return { oracle, contract, result: { ...result, result: candidate }, finding, history };
  }

  /** Trials that end the reduction at the first case which is that of a bug to be passed over. */
  #watched(trials: DatabaseOracle, passing: AbortController): TrialOracle {
    const { passesOver } = this.options;
    if (passesOver === undefined) return trials;
    const run = async (candidate: Candidate, lane: number): Promise<TrialResult> => {
      const trial = await trials.run(candidate, lane);
      const { verdict, finding, history } = trial;
      if (verdict === 'same' && finding !== undefined && history !== undefined) {
        if (await passesOver({ ...candidate, finding, history })) passing.abort();
      }
      return trial;
    };
    return { lanes: trials.lanes, run, runOnce: (candidate, lane) => trials.runOnce(candidate, lane) };
  }

  /** The same bug in a plain run, if it shows in one. */
  async #withoutAddedSql({ result }: Pursued, request: HuntRequest): Promise<Pursued | undefined> {
    const byPlain = plainOracle(request.contract);
    if (byPlain === undefined) return undefined;
    for (const candidate of plainVariations(result.result, this.options.database.target.dialect)) {
      if (this.#isStopped()) return undefined;
      const plain: HuntRequest = { ...request, ...candidate, oracle: byPlain };
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

/** Who judges runs without added SQL; undefined: nobody can hold them to this contract. */
function plainOracle(contract: Contract): OracleName | undefined {
  return oraclesFor(contract).find(({ needs }) => needs.run === 'plain')?.name;
}

/** How many closing reads of a run show the damage of a finding of another run of the same statements. */
function closingReadsOf(history: History, { finding, history: own }: Pursued): number {
  const versions = (finding.versions ?? []).flatMap((version) => {
    const statement = own.operations.find(({ index }) => index === version.operation)?.statement;
    const again = history.operations.find((each) => isSame(each.statement, statement));
    return again === undefined ? [] : [{ ...version, operation: again.index }];
  });
  return closingDamage({ finding: { ...finding, versions }, history }).length;
}

function isSame(a: StatementRef | undefined, b: StatementRef | undefined): boolean {
  return a !== undefined && b !== undefined && a[0] === b[0] && a[1] === b[1];
}

/** A request that runs a candidate by its schedule; what it leaves behind is read by no observer. */
function startWith(
  request: HuntRequest,
  { candidate, finding, history }: Pick<Start, 'candidate' | 'finding' | 'history'>,
): Start {
  return { request: { ...request, ...candidate, observe: [] }, finding, history, candidate };
}
