/**
 * Checks a key-value history: what is wrong with it, whether the level asked for holds, and which level is the
 * strongest that still can.
 *
 * 1. Reads are traced to writes (`resolve-reads.ts`) and dependencies drawn (`kv-edges.ts`).
 * 2. Single reads and cycles of certain dependencies give findings, each with the levels it rules out.
 * 3. If they do not settle the level asked for, it is decided by itself (`decide.ts`).
 * 4. The other levels follow from the lattice or are decided, from the strongest down.
 */
import type { Definitions, KvHistory } from '../../histories/index.js';
import type { Finding, GraphAnomaly } from '../finding.js';
import { cyclicComponents } from '../graph/components.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph } from '../graph/graph.js';
import { type CheckLevel, checkLevels, implies, levelUnder, orderOf, strongestOf } from '../levels.js';
import { decideLevel } from './decide.js';
import { defaultEffort, Effort } from './effort.js';
import { cycleFinding, problemFinding, withoutRepetitions } from './kv-findings.js';
import { type PreparedKv, prepareKv } from './prepared-kv.js';
import { resolveReads } from './resolve-reads.js';

export interface CheckOptions {
  /** The level to hold the history to; serializable unless told. */
  readonly level?: CheckLevel;
  /** What level names mean; by default what the history's format means by them, else `adya` for lists and `axiomatic` for registers. */
  readonly definitions?: Definitions;
  /** Findings to report: all but `ignore`, or only `only`. The verdict follows. */
  readonly anomalies?: { readonly only?: readonly string[]; readonly ignore?: readonly string[] };
  /** Seconds after which what is still open becomes `unknown`; 60 unless told. */
  readonly budget?: number;
  /** Bytes the tables of one question may take; 4 GiB unless told. */
  readonly memory?: number;
  /** A clock in milliseconds, for `budget`. */
  readonly now?: () => number;
  /** Also find the strongest level that holds; true unless told. */
  readonly strongest?: boolean;
  readonly onProgress?: (stage: string) => void;
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
  const definitions =
    options.definitions ?? history.definitions ?? (resolved.hasLists ? 'adya' : 'axiomatic');
  const level = levelUnder(options.level ?? 'serializable', definitions);
  progress('drawing dependencies');
  const prepared = prepareKv(resolved);
  const state = new Levels();
  const notes: string[] = [];
  const unknownReasons = [...resolved.unknownReasons];
  const allowed = reportTest(options.anomalies);

  let findings = resolved.problems.map((problem) => problemFinding(resolved, problem));
  progress('looking for cycles');
  const graph = buildGraph(prepared.edges);
  const acyclic = cyclicComponents(graph).length === 0;
  if (!acyclic) {
    const search = findCycles(graph);
    findings.push(...search.cycles.map((cycle) => cycleFinding(resolved, cycle)));
    for (const { family } of search.undecided) notes.push(`the search for ${family} cycles was cut short`);
  }
  findings = findings.filter((finding) => allowed(finding.kind));
  for (const finding of findings) for (const broken of finding.rulesOut) state.break(broken);

  // Reads that contradict each other leave the order of versions open, which only read uncommitted can survive.
  const contradictory =
    resolved.problemCounts.has('incompatible-order') || resolved.problemCounts.has('duplicate-write');
  if (contradictory)
    unknownReasons.push('reads contradict each other, so the order of versions is not known');
  const certain = unknownReasons.length === 0;
  const decider = new Decider(prepared, state, findings, allowed, certain, effort);
  if (acyclic && openRegisters(prepared) === 0 && certain && state.nothingBroken()) {
    state.hold(prepared.times !== undefined ? 'strict serializable' : 'strong session serializable');
  }
  progress(`deciding ${level}`);
  const reason = decider.settle(level);
  if (reason !== undefined) unknownReasons.push(reason);
  if (options.strongest !== false) {
    for (const other of [...checkLevels].reverse()) {
      if (orderOf(other) === 'real-time' && prepared.times === undefined) continue;
      progress(`deciding ${other}`);
      const why = decider.settle(other);
      if (why !== undefined) notes.push(`${other}: ${why}`);
    }
  }
  if (prepared.times === undefined)
    notes.push('the history has no times: levels that need real time were not decided');
  for (const [kind, count] of resolved.problemCounts) {
    const shown = resolved.problems.filter((problem) => problem.kind === kind).length;
    if (count > shown) notes.push(`${count} reads show ${kind}; the first ${shown} are reported`);
  }
  const status = state.status(level);
  const masked = decider.masked.has(level);
  const all = withoutRepetitions(decider.findings);
  if (masked) notes.push(`${level} is broken, but only by anomalies that are switched off`);
  return {
    valid: status === 'unknown' && !masked ? 'unknown' : status !== 'broken',
    level,
    strongest: strongestOf(
      checkLevels.filter((other) => {
        if (state.status(other) === 'broken') return false;
        return (
          state.status(other) === 'holds' || orderOf(other) !== 'real-time' || prepared.times !== undefined
        );
      }),
    ),
    levels: state.all(),
    findings: all.filter((finding) => finding.rulesOut.some((weak) => implies(level, weak))),
    beyond: all.filter((finding) => !finding.rulesOut.some((weak) => implies(level, weak))),
    unknownReasons: status === 'unknown' && !masked ? unknownReasons : [],
    notes,
  };
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

class Decider {
  readonly findings: Finding[];
  /** Levels that nothing breaks but anomalies that are switched off. */
  readonly masked = new Set<CheckLevel>();

  constructor(
    readonly prepared: PreparedKv,
    readonly state: Levels,
    findings: readonly Finding[],
    readonly allowed: (kind: string) => boolean,
    readonly certain: boolean,
    readonly effort: Effort,
  ) {
    this.findings = [...findings];
  }

  /** Decides a level if that is still open; why not, if it could not. */
  settle(level: CheckLevel): string | undefined {
    if (this.state.status(level) !== 'unknown') return undefined;
    const decision = decideLevel(this.prepared, level, this.effort);
    switch (decision.outcome) {
      case 'unknown':
        return decision.reason;
      case 'holds':
        // A read that could have seen either of two writes was left out; it might break what seems to hold.
        if (this.certain) this.state.hold(level);
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
}
