/**
 * Checks a key-value history: what is wrong with it, whether the level asked for holds, and which level is the
 * strongest that still can.
 *
 * 1. Reads are traced to writes (`resolve-reads.ts`). A history that explains itself as it stands is decided then
 *    (`run-as-written.ts`); otherwise dependencies are drawn (`kv-edges.ts`).
 * 2. Single reads and cycles of certain dependencies give findings, each with the levels it rules out.
 * 3. If they do not settle the level asked for, it is decided by itself (`decide.ts`).
 * 4. The other levels follow from the lattice or are decided, from the strongest down.
 */
import { type Definitions, type KvHistory, kvAborted, kvCommitted, kvUnseen } from '../../histories/index.js';
import type { Finding, GraphAnomaly } from '../finding.js';
import { cyclicComponents } from '../graph/components.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph, sortNodes } from '../graph/graph.js';
import {
  type BaseLevel,
  baseOf,
  type CheckLevel,
  checkLevels,
  implies,
  levelUnder,
  orderOf,
  strongestOf,
} from '../levels.js';
import type { Certificate } from './certificate/certificate.js';
import { certifyFalse, certifyTrue } from './certificate/certify.js';
import { decideWithChoices } from './choose-writers.js';
import { commitOrder } from './decide.js';
import type { PointOrder } from './decide-order.js';
import { defaultEffort, Effort } from './effort.js';
import { cycleFinding, problemFinding, withoutRepetitions } from './kv-findings.js';
import { type PreparedKv, prepareKv, undrawnKv } from './prepared-kv.js';
import { resolveReads } from './resolve-reads.js';
import { initialState, type OpenRead, type ResolvedKv } from './resolved-kv.js';
import { holdsAsWritten } from './run-as-written.js';

export interface CheckOptions {
  /** The level to hold the history to; serializable by default. */
  readonly level?: CheckLevel;
  /** What level names mean; by default what the history's format means by them, else `adya` for lists and `axiomatic` for registers. */
  readonly definitions?: Definitions;
  /** Findings to report: all but `ignore`, or only `only`. The verdict follows. */
  readonly anomalies?: { readonly only?: readonly string[]; readonly ignore?: readonly string[] };
  /** Seconds after which what is still open becomes `unknown`; 60 by default. */
  readonly budget?: number;
  /** Bytes the tables of one question may take; 4 GiB by default. */
  readonly memory?: number;
  /** A clock in milliseconds, for `budget`. */
  readonly now?: () => number;
  /** Also give the proof of the verdict, for others to verify. */
  readonly certificate?: boolean;
  /** Also find the strongest level that holds; true by default. */
  readonly strongest?: boolean;
  readonly onProgress?: (stage: string) => void;
  /** Called with the verdict as soon as it is known, before the other levels are looked at. */
  readonly onVerdict?: (valid: boolean | 'unknown') => void;
}

export type LevelStatus = 'holds' | 'broken' | 'unknown';

export interface CheckResult {
  readonly valid: boolean | 'unknown';
  /** The level checked, after `definitions`. */
  readonly level: CheckLevel;
  /** The strongest levels that hold, or, where that is not known, still may; none if even the weakest is broken. */
  readonly strongest: readonly CheckLevel[];
  readonly levels: Readonly<Record<CheckLevel, LevelStatus>>;
  /** What breaks the level checked. */
  readonly findings: readonly Finding[];
  /** What breaks only stronger levels. */
  readonly beyond: readonly Finding[];
  readonly unknownReasons: readonly string[];
  readonly notes: readonly string[];
  /** The proof of a verdict that is not `unknown`, if it was asked for. */
  readonly certificate?: Certificate;
}

export function checkKv(history: KvHistory, options: CheckOptions = {}): CheckResult {
  const progress = options.onProgress ?? ((): void => {});
  const limits = {
    seconds: options.budget ?? defaultEffort.seconds,
    memoryBytes: options.memory ?? defaultEffort.memoryBytes,
  };
  const effort = new Effort(limits, options.now, progress);
  progress('tracing reads to writes');
  const resolved = resolveReads(history);
  const outcomes = openOutcomes(resolved);
  if (outcomes.length > 0) return checkOutcomes(history, { ...resolved, txs: outcomes }, options);
  const definitions =
    options.definitions ?? history.definitions ?? (resolved.hasLists ? 'adya' : 'axiomatic');
  const level = levelUnder(options.level ?? 'serializable', definitions);
  const all = options.strongest !== false;
  const shallow = all || !shallowLevels.includes(baseOf(level)) ? undefined : shallowFor(level);
  const asWritten = !all && orderOf(level) !== 'real-time' && holdsAsWritten(resolved);
  if (!asWritten) progress('drawing dependencies');
  const prepared = asWritten ? undrawnKv(resolved) : prepareKv(resolved, shallow);
  const decider = new Decider(prepared, reportTest(options.anomalies), effort);
  decider.lookAtReads();
  if (asWritten) decider.holdAsWritten();
  else if (shallow === undefined) decider.lookForCycles();
  progress(`deciding ${level}`);
  const reason = decider.settle(level);
  const verdict = decider.verdict(level);
  options.onVerdict?.(verdict);
  if (all) decider.settleOthers(progress);
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

/** Transactions of unknown outcome that may have written what somebody read, where others may have as well. */
function openOutcomes({ openReads, counts, opTx }: ResolvedKv): number[] {
  const writes = openReads.flatMap(({ candidates }) => candidates.filter((write) => write !== initialState));
  return [...new Set(writes.map((write) => opTx[write]!))]
    .filter((tx) => counts[tx] === 0)
    .sort((a, b) => a - b);
}

/** The history as if these transactions had not committed, without the reads that they may explain: what it breaks is broken. */
function withoutReads(history: KvHistory, txs: readonly number[], reads: readonly OpenRead[]): KvHistory {
  const txStatus = history.txStatus.slice();
  for (const tx of txs) txStatus[tx] = kvAborted;
  const opValue = history.opValue.slice();
  for (const { op } of reads) opValue[op] = kvUnseen;
  return { ...history, txStatus, opValue };
}

const mostOutcomes = 6;

/** Tries the ways in which transactions of unknown outcome may have ended: one that holds is enough. */
function checkOutcomes(
  history: KvHistory,
  { txs, openReads }: { readonly txs: readonly number[]; readonly openReads: readonly OpenRead[] },
  options: CheckOptions,
): CheckResult {
  const { onVerdict, certificate } = options;
  const effort = new Effort(
    { ...defaultEffort, seconds: options.budget ?? defaultEffort.seconds },
    options.now,
  );
  const certain = checkKv(withoutReads(history, txs, openReads), { ...options, onVerdict: () => {} });
  if (certain.valid === false) {
    onVerdict?.(false);
    return certain;
  }
  const ways = txs.length <= mostOutcomes ? 1 << txs.length : 2;
  let undecided: CheckResult | undefined;
  let broken: CheckResult | undefined;
  for (let way = 0; way < ways; way++) {
    const committed = (i: number): boolean => (ways === 2 ? way === 1 : ((way >> i) & 1) === 1);
    const txStatus = history.txStatus.slice();
    txs.forEach((tx, i) => {
      txStatus[tx] = committed(i) ? kvCommitted : kvAborted;
    });
    const result = checkKv(
      { ...history, txStatus },
      { ...options, onVerdict: () => {}, budget: effort.left() },
    );
    if (result.valid === true) {
      onVerdict?.(true);
      return result;
    }
    if (result.valid === false) broken ??= result;
    else undecided ??= result;
  }
  const known = undecided === undefined && txs.length <= mostOutcomes;
  onVerdict?.(known ? false : 'unknown');
  if (known && broken !== undefined) {
    const proof =
      certificate === true ? certifyBroken(history, broken.level, broken.findings, effort) : undefined;
    const { certificate: _, ...result } = broken;
    const note = `${txs.length} transactions of unknown outcome wrote what others wrote too; however they ended, the level is broken`;
    return { ...result, notes: [...result.notes, note], ...(proof !== undefined && { certificate: proof }) };
  }
  const open = (undecided ?? broken)!;
  const reason = `it is not known whether ${txs.length} transactions committed, which wrote what others wrote too`;
  return { ...open, valid: 'unknown', findings: [], unknownReasons: [...open.unknownReasons, reason] };
}

/** Levels that are decided without anti-dependencies: the search for all cycles would only delay them. */
const shallowLevels: readonly BaseLevel[] = [
  'read uncommitted',
  'read committed',
  'monotonic atomic view',
  'read atomic',
  'causal',
];

const shallowFor = (level: CheckLevel): { readonly realTime: boolean } => ({
  realTime: orderOf(level) === 'real-time',
});

function notesOn(resolved: ResolvedKv, decider: Decider, level: CheckLevel, all: boolean): string[] {
  const notes: string[] = [];
  if (all && decider.prepared.times === undefined)
    notes.push('the history has no times: levels that need real time were not decided');
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

/** What is known of each level; the lattice spreads every fact. */
class Levels {
  readonly #status = new Map<CheckLevel, LevelStatus>();

  status(level: CheckLevel): LevelStatus {
    return this.#status.get(level) ?? 'unknown';
  }

  nothingBroken(): boolean {
    return ![...this.#status.values()].includes('broken');
  }

  break(level: CheckLevel): void {
    for (const other of checkLevels) if (implies(other, level)) this.#status.set(other, 'broken');
  }

  hold(level: CheckLevel): void {
    for (const other of checkLevels) {
      if (implies(level, other) && !this.#status.has(other)) this.#status.set(other, 'holds');
    }
  }

  all(): Record<CheckLevel, LevelStatus> {
    return Object.fromEntries(checkLevels.map((level) => [level, this.status(level)])) as Record<
      CheckLevel,
      LevelStatus
    >;
  }
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

  /** The transactions, in the order in which they stand, explain all reads. */
  holdAsWritten(): void {
    const order = (): Int32Array => Int32Array.from(this.prepared.resolved.counts, (_, tx) => tx);
    this.#hold('strong session serializable', () => commitOrder(this.prepared, order()));
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
        const shown = decision.findings.filter((finding) => this.allowed(finding.kind));
        if (shown.length === 0) {
          this.masked.add(level);
          return undefined;
        }
        this.findings.push(...shown);
        this.state.break(level);
        return undefined;
      }
    }
  }

  /** Decides every other level, from the strongest down. */
  settleOthers(progress: (stage: string) => void): void {
    for (const other of [...checkLevels].reverse()) {
      if (orderOf(other) === 'real-time' && this.prepared.times === undefined) continue;
      progress(`deciding ${other}`);
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
    const mayHold = (level: CheckLevel): boolean => {
      const status = this.state.status(level);
      if (status === 'broken') return false;
      return status === 'holds' || orderOf(level) !== 'real-time' || this.prepared.times !== undefined;
    };
    return strongestOf(checkLevels.filter(mayHold));
  }
}
