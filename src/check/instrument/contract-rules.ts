/**
 * Which dependencies a contract forbids, as searches in graphs: for each clause a graph in which *every* cycle of a
 * family breaks that clause. Searching one graph for everything and filtering the cycles afterwards would not do, for
 * an allowed cycle (InnoDB's lost updates) can hide a forbidden one behind it.
 *
 * - G0, G1c: cycles of ww, and of ww and wr.
 * - G-single, G-nonadjacent, G2-item, G2: cycles with anti-dependencies, with or without those of searches. Where
 *   locking reads see current rows and nothing certifies the transaction, a wr edge of a locking read is left out
 *   (IsoRel §3.4): having read an old version by a plain read and the new one by a locking read is how such a level works.
 * - Plain reads from one snapshot (InnoDB's REPEATABLE READ): one that missed a write, another that saw one which
 *   depends on it. A transaction is split in two nodes: wr edges of plain reads enter its reading half, which only rw
 *   edges of plain reads leave. Writes and locking reads may differ from the snapshot, so they stay outside.
 * - OTV, where each statement has a snapshot of its own: the same, one reading half per statement, left by the reads of
 *   the same or of later statements only.
 * - Lost updates alone (cursor stability): a transaction read a version, another wrote the next, the first wrote later.
 * - The pivot: a plain read misses what was committed before the instant its snapshot is taken; where nodes lag, committed on its own node.
 */

import type { Anomaly, Contract, Mechanism, Pivot } from '../../contracts/index.js';
import { fixesSnapshot } from '../../rows/index.js';
import type { Dialect } from '../../sql/index.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { findCycles } from '../graph/cycles.js';
import type { Family } from '../graph/families.js';
import { buildGraph, EdgeList, predicateRw, realTime, rw, wr, ww } from '../graph/graph.js';
import { type Dependencies, type Dependency, edgesOf } from './dependencies.js';
import type { RowEvents, TransactionInfo } from './row-event-types.js';

export interface ForbiddenCycle {
  readonly cycle: FamilyCycle;
  readonly clause: string;
}

export interface RuleResult {
  readonly cycles: readonly ForbiddenCycle[];
  /** Searches that ended at their budget. */
  readonly undecided: readonly string[];
}

/** Whether wr edges of locking reads are left out of cycles with anti-dependencies (IsoRel §3.4). */
export function exemptsLockingReads(contract: Contract | undefined): boolean {
  if (contract?.mechanism === undefined) return true;
  return contract.mechanism.lockingReadsSee === 'current' && contract.mechanism.certifier === 'none';
}

export const isExempt = ({ kind, reads }: Dependency): boolean =>
  kind === wr && reads.every(({ plain }) => !plain);

/** Every cycle of the dependencies that breaks a clause of the contract. */
export function applyContract(dependencies: Dependencies, contract: Contract): RuleResult {
  const cycles: ForbiddenCycle[] = [];
  const undecided: string[] = [];
  const forbids = (anomaly: Anomaly): boolean => contract.forbids.includes(anomaly);
  const search = (
    clause: string,
    families: readonly Family[],
    edges: EdgeList,
    owner: (node: number) => number = (node) => node,
  ) => {
    const result = findCycles(buildGraph(edges));
    for (const cycle of result.cycles) {
      if (!families.includes(cycle.family)) continue;
      const nodes = cycle.nodes.map(owner);
      // Through both halves of a transaction: two cycles, and the one without anti-dependency has its own rule.
      if (new Set(nodes).size === nodes.length) cycles.push({ cycle: { ...cycle, nodes }, clause });
    }
    if (result.undecided.some(({ family }) => families.includes(family))) undecided.push(clause);
  };
  const exempt = exemptsLockingReads(contract);
  const kept = (dependency: Dependency): boolean => !exempt || !isExempt(dependency);
  const { txCount } = dependencies;
  if (forbids('G0')) search('forbids G0', ['G0'], edgesOf(dependencies, isOf(ww)));
  if (forbids('G1c')) search('forbids G1c', ['G1c'], edgesOf(dependencies, isOf(ww, wr)));
  if (forbids('G2')) {
    search('forbids G2', ['G-single', 'G-nonadjacent', 'G2-item', 'G2'], edgesOf(dependencies, kept));
  } else {
    if (forbids('G2-item')) {
      const items = edgesOf(dependencies, (each) => kept(each) && each.kind !== predicateRw);
      search('forbids G2-item', ['G-single', 'G-nonadjacent', 'G2-item'], items);
    }
    for (const family of ['G-single', 'G-nonadjacent'] as const) {
      if (forbids(family)) search(`forbids ${family}`, [family], edgesOf(dependencies, kept));
    }
  }
  const covered = forbids('G2') || forbids('G-single');
  const { mechanism } = contract;
  if (!covered && mechanism !== undefined) {
    if (forbids('read-skew') && mechanism.pivot !== 'statement' && mechanism.pivot !== 'uncommitted') {
      search('forbids read-skew', ['G-single'], oneSnapshot(dependencies), (node) => node % txCount);
    } else if (forbids('OTV') && mechanism.pivot === 'statement') {
      const { edges, owners } = statementSnapshots(dependencies, !mechanism.readsLock);
      const owner = (node: number): number => (node < txCount ? node : owners[node - txCount]!);
      search('forbids OTV', ['G-single'], edges, owner);
    }
  }
  if (forbids('lost-update') && !covered && !forbids('G2-item')) cycles.push(...lostUpdates(dependencies));
  if (mechanism !== undefined) cycles.push(...staleReads(dependencies, mechanism));
  return { cycles, undecided };
}

const isOf =
  (...kinds: readonly number[]) =>
  ({ kind }: Dependency): boolean =>
    kinds.includes(kind);

const hasPlain = ({ reads }: Dependency): boolean => reads.some(({ plain }) => plain);

/** Node `txCount + t` is the snapshot of transaction t. */
function oneSnapshot({ list, txCount }: Dependencies): EdgeList {
  const edges = new EdgeList(2 * txCount);
  for (const dependency of list) {
    const { from, to, kind, row } = dependency;
    if (kind === ww || kind === wr) edges.add(from, to, kind, row);
    if (!hasPlain(dependency)) continue;
    if (kind === wr) edges.add(from, to + txCount, kind, row);
    if (kind === rw || kind === predicateRw) edges.add(from + txCount, to, kind, row);
  }
  return edges;
}

/** Nodes from `txCount` on are statements that saw something; `owners` are their transactions. */
function statementSnapshots(
  { list, txCount }: Dependencies,
  sameStatement: boolean,
): { edges: EdgeList; owners: readonly number[] } {
  const misses = new Map<number, { operation: number; dependency: Dependency }[]>();
  for (const dependency of list) {
    if (dependency.kind !== rw && dependency.kind !== predicateRw) continue;
    for (const { operation, plain } of dependency.reads) {
      if (!plain) continue;
      const known = misses.get(dependency.from);
      if (known === undefined) misses.set(dependency.from, [{ operation, dependency }]);
      else known.push({ operation, dependency });
    }
  }
  const nodes = new Map<number, number>();
  const owners: number[] = [];
  for (const { kind, to, reads } of list) {
    if (kind !== wr || !misses.has(to)) continue;
    for (const { operation } of reads) {
      if (nodes.has(operation)) continue;
      nodes.set(operation, txCount + owners.length);
      owners.push(to);
    }
  }
  const edges = new EdgeList(txCount + owners.length);
  for (const { from, to, kind, row, reads } of list) {
    if (kind !== ww && kind !== wr) continue;
    edges.add(from, to, kind, row);
    if (kind === ww) continue;
    for (const { operation, plain } of reads) {
      const node = nodes.get(operation);
      if (node === undefined) continue;
      edges.add(from, node, wr, row);
      for (const missed of misses.get(to) ?? []) {
        const later =
          missed.operation > operation || (missed.operation === operation && plain && sameStatement);
        if (later) edges.add(node, missed.dependency.to, missed.dependency.kind, missed.dependency.row);
      }
    }
  }
  return { edges, owners };
}

function lostUpdates({ list, chains }: Dependencies): ForbiddenCycle[] {
  const byEnds = new Set(
    list.filter(({ kind }) => kind === ww).map(({ from, to, row }) => `${from},${to},${row}`),
  );
  return list.flatMap(({ from, to, kind, row }): ForbiddenCycle[] => {
    if (kind !== rw) return [];
    const { writers } = chains[row]!;
    const between = writers.indexOf(to);
    // The shortest proof has the reader write right after; longer chains are named by their first and last writer.
    if (between < 0 || writers.lastIndexOf(from) < between || !byEnds.has(`${to},${from},${row}`)) return [];
    const cycle: FamilyCycle = {
      family: 'G-single',
      order: 'none',
      nodes: [from, to],
      kinds: [rw, ww],
      refs: [row, row],
    };
    return [{ cycle, clause: 'forbids lost-update' }];
  });
}

/** Plain reads that miss what had been committed before their snapshot was taken. */
function staleReads(
  { list, events }: Dependencies,
  { pivot, otherNodesLag }: Pick<Mechanism, 'pivot' | 'otherNodesLag'>,
): ForbiddenCycle[] {
  const reported = new Set<string>();
  return list.flatMap(({ from, to, kind, row, reads }): ForbiddenCycle[] => {
    if (kind !== rw && kind !== predicateRw) return [];
    // Where uncommitted data may be read, a search misses a row that someone has deleted and not yet committed.
    if (kind === predicateRw && pivot === 'uncommitted') return [];
    const reader = events.transactions.get(from)!;
    const writer = events.transactions.get(to)!;
    if (otherNodesLag === true && !onOneNode(events, reader, writer)) return [];
    const ended = writer.operations.at(-1)!.end;
    if (ended === null || reported.has(`${from},${to}`)) return [];
    const stale = reads.some(
      ({ operation, plain }) => plain && ended < pivotStart(reader, operation, pivot, events.dialect),
    );
    if (!stale) return [];
    reported.add(`${from},${to}`);
    const cycle: FamilyCycle = {
      family: 'G-single',
      order: 'real-time',
      nodes: [from, to],
      kinds: [kind, realTime],
      refs: [row, -1],
    };
    return [{ cycle, clause: `pivot ${pivot}` }];
  });
}

function onOneNode({ nodes }: RowEvents, a: TransactionInfo, b: TransactionInfo): boolean {
  return a.session === b.session || (nodes !== undefined && nodes[a.session] === nodes[b.session]);
}

/** The earliest instant at which the snapshot of a read can have been taken. */
function pivotStart(
  { operations }: TransactionInfo,
  operation: number,
  pivot: Pivot,
  dialect: Dialect,
): number {
  const own = operations.find(({ index }) => index === operation)!.start;
  if (pivot === 'statement' || pivot === 'uncommitted') return own;
  return operations.find((each) => fixesSnapshot(each, pivot, dialect) !== 'no')?.start ?? own;
}
