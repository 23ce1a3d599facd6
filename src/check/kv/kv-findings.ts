/** Findings of key-value histories: from cycles and from single reads to data with the operations that show it. */
import {
  type KvHistory,
  kvAppend,
  kvReadList,
  kvWrite,
  listOf,
  printKvOp,
  printName,
  statusOf,
  txName,
  valueName,
} from '../../histories/index.js';
import { describeTransactions, explainCycle } from '../explain.js';
import { ofData, ofRow, type Phrase, type Piece, phrase, type Step, say } from '../explanation.js';
import type { CycleEdge, Finding, FindingOperation, FindingTransaction, ReadAnomaly } from '../finding.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { edgeNames, realTime, rw, sessionOrder, wr } from '../graph/graph.js';
import { cycleRulesOut, nameCycle } from '../graph/name-cycle.js';
import { baseOf, type CheckLevel, orderOf, weakestOf, withOrder } from '../levels.js';
import { values } from '../observation.js';
import type { ReadProblem, ResolvedKv } from './resolved-kv.js';

/** Says why an edge that does not follow from the history alone holds; undefined for the others. */
export type WhyForced = (from: number, to: number, kind: number, ref: number) => Phrase | undefined;

export function cycleFinding(
  resolved: ResolvedKv,
  cycle: FamilyCycle,
  options: {
    readonly rulesOut?: readonly CheckLevel[];
    readonly whyForced?: WhyForced;
    /** Further transactions the argument speaks of, asked after every edge was explained. */
    readonly alsoShow?: () => Iterable<number>;
  } = {},
): Finding {
  const edges = cycle.nodes.map((from, i): CycleEdge => {
    const to = cycle.nodes[(i + 1) % cycle.nodes.length]!;
    const why = options.whyForced?.(from, to, cycle.kinds[i]!, cycle.refs[i]!);
    return describeEdge(resolved, { from, to, kind: cycle.kinds[i]!, ref: cycle.refs[i]! }, why);
  });
  const shown = [...new Set([...cycle.nodes, ...(options.alsoShow?.() ?? [])])];
  const parts = {
    transactions: shown.map((tx) => describeTx(resolved.history, tx)),
    operations: shown.flatMap((tx) => describeOps(resolved.history, tx)),
    cycle: edges,
  };
  return {
    kind: nameCycle(cycle),
    oracle: 'key-value',
    certainty: 'proved',
    rulesOut: options.rulesOut ?? ifCommitted(resolved.history, cycle.nodes, cycleRulesOut(cycle)),
    ...parts,
    explanation: explainCycle(parts),
  };
}

/**
 * A transaction of unknown outcome committed if somebody saw it, unless uncommitted data may be read: then the finding
 * rules out only what is above read uncommitted.
 */
function ifCommitted(
  history: KvHistory,
  txs: readonly number[],
  levels: readonly CheckLevel[],
): readonly CheckLevel[] {
  if (txs.every((tx) => statusOf(history, tx) === 'committed')) return levels;
  return levels.map((level) =>
    baseOf(level) === 'read uncommitted' ? withOrder('read committed', orderOf(level)) : level,
  );
}

/** No order explains these transactions, and no single cycle shows it. */
export function noOrderFinding(resolved: ResolvedKv, txs: readonly number[], level: CheckLevel): Finding {
  const shown = txs.slice(0, 50);
  const transactions = shown.map((tx) => describeTx(resolved.history, tx));
  const operations = shown.flatMap((tx) => describeOps(resolved.history, tx));
  return {
    kind: 'no-order',
    oracle: 'key-value',
    certainty: 'proved-by-search',
    rulesOut: [level],
    transactions,
    operations,
    explanation: [
      ...describeTransactions(transactions, operations),
      ...(txs.length > shown.length ? [say.define`and ${txs.length - shown.length} more`] : []),
      say.contradiction`Each way to order the versions that these ${txs.length} transactions wrote was tried, and each leads to a cycle that ${level} does not allow.`,
    ],
  };
}

/**
 * Each finding once: the same kind shown by the same transactions, whichever level led to it. What they rule out is
 * put together.
 */
export function withoutRepetitions(findings: readonly Finding[]): Finding[] {
  const kept = new Map<string, Finding>();
  for (const finding of findings) {
    const key = JSON.stringify([
      finding.kind,
      finding.transactions.map(({ id }) => id).sort((a, b) => a - b),
      (finding.versions ?? []).map(({ object, seen }) => [object, seen]),
    ]);
    const same = kept.get(key);
    if (same === undefined) kept.set(key, finding);
    else kept.set(key, { ...same, rulesOut: weakestOf([...same.rulesOut, ...finding.rulesOut]) });
  }
  return [...kept.values()];
}

const readRulesOut: Readonly<Record<ReadAnomaly, readonly CheckLevel[]>> = {
  G1a: ['read committed'],
  G1b: ['read committed'],
  'incompatible-order': ['read committed'],
  'garbage-read': ['read uncommitted'],
  'future-read': ['read uncommitted'],
  'duplicate-write': ['read uncommitted'],
  internal: ['read uncommitted'],
};

export function problemFinding(resolved: ResolvedKv, problem: ReadProblem): Finding {
  const { history, opTx } = resolved;
  const txs = [...new Set([opTx[problem.op]!, ...(problem.other < 0 ? [] : [opTx[problem.other]!])])];
  const transactions = txs.map((tx) => describeTx(history, tx));
  const operations = txs.flatMap((tx) => describeOps(history, tx));
  return {
    kind: problem.kind,
    oracle: 'key-value',
    certainty: 'proved',
    rulesOut:
      problem.how === 'repeat'
        ? ['read atomic', 'repeatable read', 'prefix']
        : ifCommitted(
            history,
            txs,
            problem.how === 'program-order' || problem.how === 'committed'
              ? ['read uncommitted']
              : readRulesOut[problem.kind],
          ),
    transactions,
    operations,
    versions: [
      {
        operation: problem.op,
        object: keyName(history, history.opKey[problem.op]!),
        seen: values(printKvOp(history, problem.op)),
        allowed: problem.kind === 'internal' ? [values(printKvOp(history, problem.other))] : [],
      },
    ],
    explanation: [...describeTransactions(transactions, operations), explainProblem(resolved, problem)],
  };
}

function explainProblem(resolved: ResolvedKv, problem: ReadProblem): Step {
  const { history, opTx } = resolved;
  const reader = ofTx(history, opTx[problem.op]!);
  const read = ofOp(history, problem.op);
  const key = ofRow(keyName(history, history.opKey[problem.op]!));
  const writer = problem.other < 0 ? '' : ofTx(history, opTx[problem.other]!);
  const other = problem.other < 0 ? '' : ofOp(history, problem.other);
  const element = problem.value === undefined ? '' : ofData(printName(valueName(history, problem.value)));
  const wrong = say.contradiction;
  switch (problem.kind) {
    case 'G1a':
      return wrong`${reader} read what ${writer} wrote, ${read} from ${other}; however, ${writer} aborted.`;
    case 'G1b':
      return wrong`${reader} read an intermediate version, ${read} from ${other}; however, ${writer} wrote ${key} again before it committed.`;
    case 'future-read':
      return wrong`${reader} read its own write before making it: ${read} comes before ${other}.`;
    case 'garbage-read':
      return wrong`${reader} read ${element === '' ? read : phrase`${element} in ${read}`}; however, no transaction ever wrote that to ${key}.`;
    case 'duplicate-write':
      return wrong`${reader} read ${element} more than once in ${read}; however, it was appended only once, by ${other} of ${writer}.`;
    case 'incompatible-order':
      if (problem.how === 'program-order') {
        return wrong`${reader} read ${read}; however, that is not the order in which ${writer} appended: ${other} was not its last.`;
      }
      return wrong`${reader} read ${read}, and ${writer} read ${other}; however, neither list begins with the other, so no order of the appends explains both.`;
    case 'internal':
      return problem.how === 'repeat'
        ? wrong`${reader} read ${key} twice, ${other} and then ${read}; however, it did not write ${key} so in between.`
        : wrong`${reader} read ${read} after its own ${other}; however, it must see its own write.`;
  }
}

/** An edge of a cycle as the search knows it. */
interface FoundEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: number;
  /** The key it goes through, where it goes through one. */
  readonly ref: number;
}

function describeEdge(resolved: ResolvedKv, edge: FoundEdge, why: Phrase | undefined): CycleEdge {
  const { history } = resolved;
  const { from, to, kind, ref } = edge;
  const base = { from, to, kind: edgeNames[kind]! };
  const a = ofTx(history, from);
  const b = ofTx(history, to);
  if (kind === sessionOrder) {
    const session = printName(history.sessionNames[history.txSession[from]!]!);
    return { ...base, because: phrase`${a} came before ${b} in session ${ofData(session)}` };
  }
  if (kind === realTime) {
    const end = history.txEnd?.[from];
    const start = history.txStart?.[to];
    return { ...base, because: phrase`${a} ended (at ${end!} ns) before ${b} started (at ${start!} ns)` };
  }
  const object = keyName(history, ref);
  const [fromOperation, toOperation] = edgeOps(resolved, edge);
  const key = ofRow(object);
  const first = fromOperation < 0 ? phrase`a write of ${key}` : ofOp(history, fromOperation);
  const second = toOperation < 0 ? phrase`a write of ${key}` : ofOp(history, toOperation);
  const because =
    kind === wr
      ? phrase`${b} read ${key} as ${a} wrote it: ${second} from ${first}`
      : kind === rw
        ? phrase`${a} read ${key} before ${b} wrote it: ${first} does not see ${second}`
        : phrase`${b} wrote ${key} after ${a} did: ${second} after ${first}`;
  return {
    ...base,
    object,
    ...(fromOperation < 0 ? {} : { fromOperation }),
    ...(toOperation < 0 ? {} : { toOperation }),
    because: why === undefined ? because : phrase`${because} (${why})`,
  };
}

/** The operations an edge goes through; -1 where there is none. */
function edgeOps(resolved: ResolvedKv, { from, to, kind, ref: key }: FoundEdge): [number, number] {
  const { history, opTx, readsFrom } = resolved;
  const find = (tx: number, test: (op: number) => boolean): number => {
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      if (history.opKey[op] === key && test(op)) return op;
    }
    return -1;
  };
  const isWrite = (op: number): boolean => history.opKind[op]! >= kvWrite;
  if (kind === wr) {
    const read = find(to, (op) => readsFrom[op]! >= 0 && opTx[readsFrom[op]!] === from);
    return [read < 0 ? find(from, isWrite) : readsFrom[read]!, read];
  }
  if (kind === rw) {
    const write = find(to, isWrite);
    const misses = (op: number): boolean =>
      !isWrite(op) &&
      (history.opKind[op] !== kvReadList || !listOf(history, op).includes(history.opValue[write] ?? -1));
    return [find(from, misses), write];
  }
  return listNeighbours(resolved, from, to, key) ?? [find(from, isWrite), find(to, isWrite)];
}

/** An element of `from` in the key's chain, and the next one of `to`. */
function listNeighbours(
  resolved: ResolvedKv,
  from: number,
  to: number,
  key: number,
): [number, number] | undefined {
  const { history, chainWriters, opTx } = resolved;
  let before = -1;
  for (let i = history.chainOffsets[key]!; i < history.chainOffsets[key + 1]!; i++) {
    const writer = chainWriters[i]!;
    if (writer < 0) continue;
    if (opTx[writer] === from) before = writer;
    else if (opTx[writer] === to && before >= 0) return [before, writer];
  }
  if (before < 0) return undefined;
  for (let op = history.opOffsets[to]!; op < history.opOffsets[to + 1]!; op++) {
    const unseen = history.opKind[op] === kvAppend && resolved.placed[op] === 0;
    if (unseen && history.opKey[op] === key) return [before, op];
  }
  return undefined;
}

export function describeTx(history: KvHistory, tx: number): FindingTransaction {
  return {
    id: tx,
    name: txName(history, tx),
    session: String(history.sessionNames[history.txSession[tx]!]!),
    status: statusOf(history, tx),
  };
}

export function describeOps(history: KvHistory, tx: number): FindingOperation[] {
  const ops: FindingOperation[] = [];
  for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
    ops.push({ index: op, transaction: tx, text: printKvOp(history, op) });
  }
  return ops;
}

const keyName = (history: KvHistory, key: number): string => printName(history.keyNames[key]!);

/** A transaction as explanations refer to it: by name, since they may speak of more than the finding lists. */
export const ofTx = (history: KvHistory, tx: number): Piece => ({
  transaction: tx,
  name: txName(history, tx),
});
/** An operation as text; its number says little beside it. */
const ofOp = (history: KvHistory, op: number): Piece => ofData(printKvOp(history, op));
