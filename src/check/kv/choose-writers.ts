/**
 * Decides a level where a value was written to a key more than once, or written to it and there from the start, so that it
 * is open which write some reads saw, or whether they saw one at all.
 *
 * 1. Without those reads: what is broken then is broken.
 * 2. Writers that a read cannot have seen are left out: those that come after it, and (from causal upwards) those that
 *    another writer, which comes before the read, comes after. Clocks along reads-from and the level's order say so.
 * 3. A writer is chosen for each read, the nearest before it in a likely order first, and the level decided as ever. If it holds, it holds. If not, the few
 *    transactions that break it name the choices that are impossible together; they are remembered, and the next
 *    choice of writers avoids them all. If none is left, the level is broken.
 */

import { copyEdges, type EdgeList, kindMask, sessionOrder, wr, ww } from '../graph/graph.js';
import { chainsAlong, groupBySession } from '../graph/sessions.js';
import { baseOf, type CheckLevel, orderOf } from '../levels.js';
import { clocksAlong } from './clocks.js';
import { type Decision, decideLevel } from './decide.js';
import type { Effort } from './effort.js';
import { noOrderFinding } from './kv-findings.js';
import { likelyOrder } from './likely-order.js';
import { minimalCore, withSources } from './order/refutation.js';
import { orderKinds, type PreparedKv, prepareKv } from './prepared-kv.js';
import { renamedHistory } from './renamed-history.js';
import { resolveReads } from './resolve-reads.js';
import { initialState, type OpenRead, type ResolvedKv } from './resolved-kv.js';

/** `reads`: the transaction that each open read is taken to have seen. */
export type ChosenDecision = Decision & { readonly reads?: Readonly<Record<string, number>> };

export function decideWithChoices(prepared: PreparedKv, level: CheckLevel, effort: Effort): ChosenDecision {
  const { resolved } = prepared;
  const without = decideLevel(prepared, level, effort);
  const needless = resolved.openReads.length === 0 || baseOf(level) === 'read uncommitted';
  if (needless || without.outcome !== 'holds') return without;
  const open = prune(prepared, level, effort);
  const choice = new WriterChoice(open);
  const involved = new Set<number>();
  for (let attempt = 1; ; attempt++) {
    if (effort.spent()) {
      return {
        outcome: 'unknown',
        reason: `no writer was found for each of ${open.length} reads of repeated values`,
      };
    }
    effort.progress(`choosing writers of repeated values, attempt ${attempt}`);
    const chosen = choice.next(() => effort.spent());
    if (chosen === undefined && effort.spent()) continue;
    if (chosen === undefined) break;
    const whole = withChoices(resolved, open, chosen);
    const decision = decideLevel(prepareKv(whole), level, effort);
    if (decision.outcome === 'unknown') return decision;
    if (decision.outcome === 'holds') {
      const reads = open.map(({ op }, i) => [op, txOf(resolved, chosen[i]!)] as const);
      return { ...decision, reads: Object.fromEntries(reads) };
    }
    const named =
      decision.core ?? decision.findings.flatMap((finding) => finding.transactions.map(({ id }) => id));
    const core = coreOf(whole, level, named, effort);
    for (const tx of core ?? named) involved.add(tx);
    choice.forbid(
      chosen,
      core === undefined ? undefined : (read, write) => uses(resolved, core, read, write),
    );
  }
  for (const { op, candidates } of open) {
    if (!involved.has(resolved.opTx[op]!)) continue;
    for (const write of [op, ...candidates]) if (write >= 0) involved.add(resolved.opTx[write]!);
  }
  const txs = withSources(resolved, involved);
  return { outcome: 'broken', findings: [noOrderFinding(resolved, txs, level)], core: txs };
}

/** The transaction of a write; -1 for the initial state. */
const txOf = ({ opTx }: ResolvedKv, write: number): number => (write === initialState ? -1 : opTx[write]!);

/** Does the argument of a core rest on a read having seen a write? */
const uses = (resolved: ResolvedKv, core: readonly number[], read: number, write: number): boolean =>
  core.includes(resolved.opTx[read]!) && (write === initialState || core.includes(txOf(resolved, write)));

/** The history in which each open read saw the write chosen for it. */
function withChoices(resolved: ResolvedKv, open: readonly OpenRead[], chosen: readonly number[]): ResolvedKv {
  const readsFrom = resolved.readsFrom.slice();
  open.forEach(({ op }, i) => {
    readsFrom[op] = chosen[i]!;
  });
  return { ...resolved, readsFrom, openReads: [] };
}

/** The fewest transactions that break a level with the writers chosen; undefined if those named do not break it alone. */
function coreOf(
  resolved: ResolvedKv,
  level: CheckLevel,
  named: readonly number[],
  effort: Effort,
): readonly number[] | undefined {
  const breaks = (txs: readonly number[]): boolean => {
    const prepared = prepareKv(resolveReads(renamedHistory(resolved, txs)));
    return decideLevel(prepared, level, effort).outcome === 'broken';
  };
  const all = withSources(resolved, named);
  return breaks(all) ? minimalCore(all, breaks, () => effort.spent()) : undefined;
}

/** Open reads with the writers that they may have seen. */
function prune(prepared: PreparedKv, level: CheckLevel, effort: Effort): OpenRead[] {
  const { resolved, edges } = prepared;
  const kinds = kindMask(wr) | orderKinds[orderOf(level)];
  const chains = chainsAlong(resolved, edges, kinds);
  if (chains === undefined || edges.nodeCount * chains.count * 4 > effort.limits.memoryBytes)
    return [...resolved.openReads];
  const clocks = clocksAlong(chains, edges, kinds);
  if (clocks === undefined) return [...resolved.openReads];
  const isBefore = (a: number, b: number): boolean =>
    a !== b && clocks[b * chains.count + chains.session[a]!]! > chains.position[a]!;
  const place = placesIn(resolved, edges);
  const writers = writersOfOpenKeys(resolved);
  const base = baseOf(level);
  const seesAll =
    base !== 'read committed' && base !== 'cursor stability' && base !== 'monotonic atomic view';
  const causal = seesAll && base !== 'read atomic';
  return resolved.openReads.map(({ op, candidates }) => {
    const reader = resolved.opTx[op]!;
    const others = writers.get(resolved.history.opKey[op]!)!;
    const fits = candidates.filter((write) => {
      if (write === initialState)
        return !causal || others.length > 1000 || !others.some((other) => isBefore(other, reader));
      const writer = resolved.opTx[write]!;
      if (isBefore(reader, writer)) return false;
      if (!causal || others.length > 1000) return true;
      return !others.some((other) => other !== writer && isBefore(writer, other) && isBefore(other, reader));
    });
    // With none left the level is broken, and the decision says by whom.
    if (fits.length === 0) return { op, candidates };
    // The latest writer that comes before the read is the likeliest.
    const distance = (write: number): number => {
      const ahead = place(reader) - (write === initialState ? -1 : place(resolved.opTx[write]!));
      return ahead > 0 ? ahead : edges.nodeCount - ahead;
    };
    return { op, candidates: fits.sort((a, b) => distance(a) - distance(b)) };
  });
}

/** Where transactions stand in the file if that agrees with what is known, else in a likely order. */
function placesIn(resolved: ResolvedKv, edges: EdgeList): (tx: number) => number {
  const known = copyEdges(edges, kindMask(ww, wr, sessionOrder));
  let asWritten = true;
  for (let e = 0; e < known.length && asWritten; e++) asWritten = known.sources[e]! < known.targets[e]!;
  const order = asWritten ? undefined : likelyOrder(groupBySession(resolved), known);
  if (order === undefined) return (tx) => tx;
  const places = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) places[order[i]!] = i;
  return (tx) => places[tx]!;
}

function writersOfOpenKeys({
  history,
  finalWrite,
  counts,
  opTx,
  openReads,
}: ResolvedKv): Map<number, number[]> {
  const writers = new Map<number, number[]>(openReads.map(({ op }) => [history.opKey[op]!, []]));
  for (let op = 0; op < history.opCount; op++) {
    if (finalWrite[op] === 1 && counts[opTx[op]!] === 1) writers.get(history.opKey[op]!)?.push(opTx[op]!);
  }
  return writers;
}

type Choice = readonly [read: number, write: number];

/**
 * A writer for each read, avoiding what was found impossible together. Reads are settled one after the other, each with its
 * likeliest writer that nothing forbids. Where everything is forbidden, the earlier choices that forbid it are impossible
 * together as well: that is remembered, and the last of them is made anew.
 */
class WriterChoice {
  readonly #open: readonly OpenRead[];
  /** Choices that cannot be made together, under the read that is settled last. */
  readonly #forbidden: (readonly Choice[])[][];

  constructor(open: readonly OpenRead[]) {
    this.#open = open;
    this.#forbidden = open.map(() => []);
  }

  /** A choice that nothing forbids; undefined if there is none, or time is up. */
  next(spent: () => boolean): readonly number[] | undefined {
    const chosen: number[] = [];
    for (let steps = 1; chosen.length < this.#open.length; steps++) {
      if (steps % 1000 === 0 && spent()) return undefined;
      const read = chosen.length;
      const blockers: (readonly Choice[])[] = [];
      const free = this.#open[read]!.candidates.find((write) => {
        const blocker = this.#blocker(chosen, read, write);
        if (blocker !== undefined) blockers.push(blocker);
        return blocker === undefined;
      });
      if (free !== undefined) {
        chosen.push(free);
        continue;
      }
      const earlier = new Map(blockers.flat().filter(([other]) => other !== read));
      if (earlier.size === 0) return undefined;
      chosen.length = this.#remember([...earlier]);
    }
    return chosen;
  }

  /** What forbids a choice behind those made. */
  #blocker(chosen: readonly number[], read: number, write: number): readonly Choice[] | undefined {
    return this.#forbidden[read]!.find((choices) =>
      choices.every(([other, made]) => (other === read ? write : chosen[other]) === made),
    );
  }

  /** Of the choice made, those that `used` names cannot be made together; all of them if it names none. */
  forbid(chosen: readonly number[], used?: (read: number, write: number) => boolean): void {
    const all = chosen.map((write, i): Choice => [i, write]);
    const some = used === undefined ? all : all.filter(([i, write]) => used(this.#open[i]!.op, write));
    if (all.length > 0) this.#remember(some.length === 0 ? all : some);
  }

  /** The read that is settled last of those in the choices. */
  #remember(choices: readonly Choice[]): number {
    const last = Math.max(...choices.map(([read]) => read));
    this.#forbidden[last]!.push(choices);
    return last;
  }
}
