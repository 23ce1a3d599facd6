/**
 * Checks a key-value history: what is wrong with it, whether the level asked for holds, and which level is the
 * strongest that still can.
 *
 * 0. A history that runs serially, more or less as the file has it, is decided by that one pass (`serial-run.ts`).
 * 1. Reads are traced to writes (`resolve-reads.ts`), and dependencies drawn (`kv-edges.ts`).
 * 2. Single reads and cycles of certain dependencies give findings, each with the levels it rules out.
 * 3. If they do not settle the level asked for, it is decided by itself (`decide.ts`).
 * 4. The other levels follow from the lattice or are decided, from the strongest down.
 */
import { type KvHistory, kvAborted, kvCommitted, kvUnseen } from '../../histories/index.js';
import { counted } from '../../words.js';
import type { Finding, GraphAnomaly } from '../finding.js';
import { cyclicComponents } from '../graph/components.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph, sortNodes } from '../graph/graph.js';
import { baseOf, type CheckLevel, checkLevels, implies, levelUnder, orderOf } from '../levels.js';
import { type Alternatives, checkAlternatives } from './alternatives.js';
import type { Certificate } from './certificate/certificate.js';
import { certifyFalse, certifyTrue } from './certificate/certify.js';
import { verifyCertificate } from './certificate/verify.js';
import { decideWithChoices } from './choose-writers.js';
import { commitOrder } from './decide.js';
import type { PointOrder } from './decide-order.js';
import { defaultEffort, Effort } from './effort.js';
import { cycleFinding, problemFinding, withoutRepetitions } from './kv-findings.js';
import type { CheckOptions, CheckResult } from './kv-result.js';
import { Levels } from './level-states.js';
import { isShallow, type PreparedKv, prepareFor, prepareKv } from './prepared-kv.js';
import { withOwnElements, withoutLists } from './repeated-elements.js';
import { resolveReads } from './resolve-reads.js';
import { initialState, type ResolvedKv } from './resolved-kv.js';
import { serialRun, writersOfInitialValue } from './serial-run.js';

export function checkKv(history: KvHistory, options: CheckOptions = {}): CheckResult {
  const limits = {
    seconds: options.budget ?? defaultEffort.seconds,
    memoryBytes: options.memory ?? defaultEffort.memoryBytes,
  };
  return checkWithin(history, options, new Effort(limits, options.now, options.onProgress));
}

function checkWithin(history: KvHistory, options: CheckOptions, effort: Effort): CheckResult {
  const serial = checkSerial(history, options);
  if (serial !== undefined) return serial;
  effort.progress('tracing reads to writes');
  const resolved = resolveReads(history);
  const alternatives = openElements(resolved, options) ?? openOutcomes(resolved);
  if (alternatives !== undefined) return checkEach(resolved, alternatives, options, effort);
  const level = levelFor(history, options, resolved.hasLists);
  const all = options.strongest !== false;
  effort.progress('drawing dependencies');
  const prepared = all ? prepareKv(resolved) : prepareFor(resolved, level);
  const decider = new Decider(prepared, reportTest(options.anomalies), effort);
  decider.lookAtReads();
  if (all || !isShallow(level)) decider.lookForCycles();
  effort.progress(`deciding ${level}`);
  const reason = decider.settle(level);
  const verdict = decider.verdict(level);
  options.onVerdict?.(verdict);
  if (all) decider.settleOthers();
  const certificate = options.certificate === true ? certify(history, level, decider) : undefined;
  const unknownReasons = [...decider.uncertain, ...(reason === undefined ? [] : [reason])];
  const found = withoutRepetitions(decider.findings);
  const breaks = (finding: Finding): boolean => finding.rulesOut.some((weak) => implies(level, weak));
  return {
    valid: verdict,
    level,
    strongest: decider.strongest(),
    levels: decider.state.all(),
    findings: found.filter(breaks),
    beyond: found.filter((finding) => !breaks(finding)),
    unknownReasons: verdict === 'unknown' ? unknownReasons : [],
    notes: [...decider.notes, ...notesOn(resolved, decider, level, all)],
    ...(certificate !== undefined && { certificate }),
  };
}

function levelFor(history: KvHistory, options: CheckOptions, hasLists: boolean): CheckLevel {
  const definitions = options.definitions ?? history.definitions ?? (hasLists ? 'adya' : 'axiomatic');
  return levelUnder(options.level ?? 'serializable', definitions);
}

/** The verdict on a history that runs serially, unless real time is asked about and says another order. */
function checkSerial(history: KvHistory, options: CheckOptions): CheckResult | undefined {
  const run = serialRun(history);
  if (run === undefined) return undefined;
  const level = levelFor(history, options, run.hasLists);
  const all = options.strongest !== false;
  if (!run.inRealTime && (orderOf(level) === 'real-time' || (all && run.hasTimes))) return undefined;
  const state = new Levels();
  state.hold(run.inRealTime ? 'strict serializable' : 'strong session serializable');
  options.onVerdict?.(true);
  const proof = { split: false, points: run.order };
  return {
    ...{ valid: true, level, findings: [], beyond: [], unknownReasons: [] },
    strongest: state.strongest(run.hasTimes),
    levels: state.all(),
    notes: all && !run.hasTimes ? [noTimes] : [],
    ...(options.certificate === true && {
      certificate: certifyTrue(history, level, proof, writersOfInitialValue(history, run.order)),
    }),
  };
}

const noTimes = 'the history has no times: levels that need real time were not decided';

function certify(history: KvHistory, level: CheckLevel, decider: Decider): Certificate | undefined {
  const proved = decider.proofOf(level);
  if (proved !== undefined) return certifyTrue(history, level, proved.proof(), proved.reads);
  if (decider.verdict(level) !== false) return undefined;
  const breaking = decider.findings.filter((finding) =>
    finding.rulesOut.some((weak) => implies(level, weak)),
  );
  const certificate = certifyBroken(history, level, breaking, decider.effort);
  if (certificate === undefined)
    decider.notes.push('no certificate: no few transactions were found that break the level by themselves');
  return certificate;
}

const coreSeconds = 10;

function certifyBroken(
  history: KvHistory,
  level: CheckLevel,
  findings: readonly Finding[],
  effort: Effort,
): Certificate | undefined {
  const limit = effort.again(coreSeconds);
  const breaks = (restricted: KvHistory): boolean => {
    const options = { level, definitions: 'adya', strongest: false, budget: limit.left() } as const;
    return checkKv(restricted, options).valid === false;
  };
  for (const finding of findings) {
    const certificate = certifyFalse(history, level, finding, { breaks, spent: () => limit.spent() });
    if (certificate !== undefined) return certificate;
  }
  return undefined;
}

/** Elements that were appended more than once: which append is the one in a list? */
function openElements(
  { history, repeatedElements: elements, hasLists }: ResolvedKv,
  options: CheckOptions,
): Alternatives | undefined {
  if (elements.length === 0) return undefined;
  const seesAborted = baseOf(levelFor(history, options, hasLists)) === 'read uncommitted';
  const { opOffsets, opKey } = history;
  const touches = (tx: number, key: number): boolean =>
    opKey.subarray(opOffsets[tx]!, opOffsets[tx + 1]!).includes(key);
  return {
    open: `whose ${counted(elements.length, 'element')} of lists are, which were appended more than once`,
    certain: withoutLists(history, elements),
    answers: elements.map(({ ways }) => [...(ways ?? []).keys()]),
    history: (answers) =>
      withOwnElements(
        history,
        elements,
        answers.map((answer, e) => elements[e]!.ways![answer]!),
      ),
    concerns: (e, txs) => [...txs].some((tx) => touches(tx, elements[e]!.key)),
    ...(seesAborted &&
      elements.some(({ aborted, isOpen }) => aborted > 0 || isOpen) && {
        incomplete:
          'an element was appended more than once, and a list may hold it from a transaction that aborted or whose outcome is not known',
      }),
  };
}

/** Transactions of unknown outcome that may have written what somebody read, where others may have as well: did they commit? */
function openOutcomes({ history, openReads, counts, opTx }: ResolvedKv): Alternatives | undefined {
  const writes = openReads.flatMap(({ candidates }) => candidates.filter((write) => write !== initialState));
  const txs = [...new Set(writes.map((write) => opTx[write]!))].filter((tx) => counts[tx] === 0);
  if (txs.length === 0) return undefined;
  const ended = (status: (i: number) => number): KvHistory => {
    const txStatus = history.txStatus.slice();
    txs.forEach((tx, i) => {
      txStatus[tx] = status(i);
    });
    return { ...history, txStatus };
  };
  const opValue = history.opValue.slice();
  for (const { op } of openReads) opValue[op] = kvUnseen;
  return {
    open: `whether ${counted(txs.length, 'transaction')} committed, which wrote what others wrote too`,
    certain: { ...ended(() => kvAborted), opValue },
    answers: txs.map(() => [kvCommitted, kvAborted]),
    history: (answers) => ended((i) => answers[i]!),
    concerns: (i, core) => core.has(txs[i]!),
  };
}

const noOrderOfElements = 'no order was found that explains every list';

/** Checks one alternative after the other. */
function checkEach(
  { history, hasLists }: ResolvedKv,
  alternatives: Alternatives,
  options: CheckOptions,
  effort: Effort,
): CheckResult {
  const { certificate = false, onVerdict, ...quiet } = options;
  const level = levelFor(history, options, hasLists);
  // Reads prove little there, so a list could be told in a way that no order explains, such as by an append before it was made.
  const isLoose = baseOf(level) === 'read uncommitted';
  const result = checkAlternatives(alternatives, {
    check: (alternative) => {
      const checked = checkWithin(alternative, { ...quiet, certificate: certificate || isLoose }, effort);
      const { valid, certificate: proof } = checked;
      if (!isLoose || valid !== true || proof === undefined) return checked;
      const { accepted } = verifyCertificate(history, proof);
      if (accepted) return checked;
      const levels = Levels.withoutHeld(checked.levels).all();
      return { ...checked, valid: 'unknown', levels, unknownReasons: [noOrderOfElements] };
    },
    core: (alternative, findings) => {
      const proof = certifyBroken(alternative, level, findings, effort);
      return proof?.valid === false ? proof.transactions : undefined;
    },
    effort,
  });
  onVerdict?.(result.valid);
  const { certificate: proof, ...rest } = result;
  if (!certificate || result.valid === 'unknown') return rest;
  const proved = result.valid ? proof : certifyBroken(history, level, result.findings, effort);
  return { ...rest, ...(proved !== undefined && { certificate: proved }) };
}

function notesOn(resolved: ResolvedKv, decider: Decider, level: CheckLevel, all: boolean): string[] {
  const notes: string[] = [];
  if (all && decider.prepared.times === undefined) notes.push(noTimes);
  for (const [kind, count] of resolved.problemCounts) {
    const shown = resolved.problems.filter((problem) => problem.kind === kind).length;
    if (count > shown) notes.push(`${count} reads show ${kind}; the first ${shown} are reported`);
  }
  if (decider.masked.has(level))
    notes.push(`${level} is broken, but only by anomalies that are switched off`);
  return notes;
}

/** Keys whose versions could stand in more than one order. */
function openRegisters(prepared: PreparedKv): number {
  const { history, counts, opTx, finalWrite } = prepared.resolved;
  const writers = new Uint8Array(history.keyNames.length);
  let open = 0;
  for (let op = 0; op < history.opCount; op++) {
    if (finalWrite[op] === 0 || history.opKind[op] !== 2 || counts[opTx[op]!] === 0) continue;
    const key = history.opKey[op]!;
    if (writers[key] === 1) open++;
    writers[key] = 1;
  }
  return open;
}

function reportTest(anomalies: CheckOptions['anomalies']): (kind: GraphAnomaly | string) => boolean {
  const only = anomalies?.only === undefined ? undefined : new Set<string>(anomalies.only);
  const ignore = new Set<string>(anomalies?.ignore);
  return (kind) => (only === undefined || only.has(kind)) && !ignore.has(kind);
}

/** What proved a level, and which transaction each open read was taken to have seen. */
interface Proof {
  readonly level: CheckLevel;
  readonly proof: () => PointOrder;
  readonly reads: Readonly<Record<string, number>>;
}

class Decider {
  readonly state = new Levels();
  readonly findings: Finding[] = [];
  readonly notes: string[] = [];
  /** Levels that nothing breaks but anomalies that are switched off. */
  readonly masked = new Set<CheckLevel>();
  /** Why no level can be said to hold. */
  readonly uncertain: string[];
  readonly #proofs: Proof[] = [];

  constructor(
    readonly prepared: PreparedKv,
    readonly allowed: (kind: string) => boolean,
    readonly effort: Effort,
  ) {
    const { problemCounts, unknownReasons } = prepared.resolved;
    this.uncertain = [...unknownReasons];
    // Reads that contradict each other leave the order of versions open, which only read uncommitted can survive.
    if (problemCounts.has('incompatible-order') || problemCounts.has('duplicate-write'))
      this.uncertain.push('reads contradict each other, so the order of versions is not known');
  }

  /** What single reads show. */
  lookAtReads(): void {
    const { resolved } = this.prepared;
    this.#found(resolved.problems.map((problem) => problemFinding(resolved, problem)));
  }

  /** What cycles of known dependencies show; where there are none and all versions are in order, everything holds. */
  lookForCycles(): void {
    const { resolved, edges, times } = this.prepared;
    this.effort.progress('looking for cycles');
    const graph = buildGraph(edges);
    if (cyclicComponents(graph).length > 0) {
      const search = findCycles(graph);
      this.#found(search.cycles.map((cycle) => cycleFinding(resolved, cycle)));
      for (const { family } of search.undecided)
        this.notes.push(`the search for ${family} cycles was cut short`);
    } else if (
      resolved.openReads.length + openRegisters(this.prepared) === 0 &&
      this.#certain &&
      this.state.nothingBroken()
    ) {
      const level = times !== undefined ? 'strict serializable' : 'strong session serializable';
      this.#hold(level, () => commitOrder(this.prepared, sortNodes(graph)!));
    }
  }

  get #certain(): boolean {
    return this.uncertain.length === 0;
  }

  #found(findings: readonly Finding[]): void {
    for (const finding of findings) {
      if (!this.allowed(finding.kind)) continue;
      this.findings.push(finding);
      for (const broken of finding.rulesOut) this.state.break(broken);
    }
  }

  #hold(level: CheckLevel, proof: () => PointOrder, reads: Proof['reads'] = {}): void {
    this.state.hold(level);
    this.#proofs.push({ level, proof, reads });
  }

  /** An order that proves a level, if it holds. */
  proofOf(level: CheckLevel): Proof | undefined {
    if (this.verdict(level) !== true) return undefined;
    return this.#proofs.find((proof) => implies(proof.level, level));
  }

  /** Decides a level if that is still open; why not, if it could not. */
  settle(level: CheckLevel): string | undefined {
    if (this.state.status(level) !== 'unknown') return undefined;
    const decision = decideWithChoices(this.prepared, level, this.effort);
    switch (decision.outcome) {
      case 'unknown':
        return decision.reason;
      case 'holds':
        // What was left out of the judgement might break what seems to hold.
        if (this.#certain) this.#hold(level, () => decision.proof, decision.reads);
        return undefined;
      case 'broken': {
        const shown = decision.findings().filter((finding) => this.allowed(finding.kind));
        if (shown.length === 0) {
          this.masked.add(level);
          return undefined;
        }
        this.#found(shown);
        this.state.break(level);
        return undefined;
      }
    }
  }

  /** Decides every other level, from the strongest down. */
  settleOthers(): void {
    for (const other of [...checkLevels].reverse()) {
      if (orderOf(other) === 'real-time' && this.prepared.times === undefined) continue;
      this.effort.progress(`deciding ${other}`);
      const why = this.settle(other);
      if (why !== undefined) this.notes.push(`${other}: ${why}`);
    }
  }

  verdict(level: CheckLevel): boolean | 'unknown' {
    const status = this.state.status(level);
    if (status === 'unknown' && !this.masked.has(level)) return 'unknown';
    return status !== 'broken';
  }

  strongest(): CheckLevel[] {
    return this.state.strongest(this.prepared.times !== undefined);
  }
}
