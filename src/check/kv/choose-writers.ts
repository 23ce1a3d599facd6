/**
 * Decides a level where a value was written to a key more than once, or written to it and there from the start, so that it
 * is open which write some reads saw, or whether they saw one at all.
 *
 * 1. Without those reads: what is broken then is broken.
 * 2. Writers that a read cannot have seen are left out: those that come after it, and (from causal upwards) those that
 *    another writer, which comes before the read, comes after. Clocks along reads-from and the level's order say so.
 * 3. A writer is chosen for each read and the level decided as ever. If it holds, it holds. If not, the few
 *    transactions that break it name the choices that are impossible together; they are remembered, and the next
 *    choice of writers avoids them all. If none is left, the level is broken.
 */

import { kindMask, wr } from '../graph/graph.js';
import { chainsAlong } from '../graph/sessions.js';
import { baseOf, type CheckLevel, orderOf } from '../levels.js';
import { clocksAlong } from './clocks.js';
import { type Decision, decideLevel } from './decide.js';
import type { Effort } from './effort.js';
import { noOrderFinding } from './kv-findings.js';
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
    const chosen = choice.next();
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
    const rank = (write: number): number =>
      write !== initialState && isBefore(resolved.opTx[write]!, reader) ? 1 : 0;
    return { op, candidates: fits.sort((a, b) => rank(b) - rank(a) || b - a) };
  });
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

/** A writer for each read, avoiding what was found impossible: depth first, with what is forbidden as a guide. */
class WriterChoice {
  readonly #open: readonly OpenRead[];
  /** Choices (read, write) that cannot be made together, under the read that is chosen last. */
  readonly #forbidden: (readonly (readonly [read: number, write: number])[])[][];
  #current: number[] | undefined;

  constructor(open: readonly OpenRead[]) {
    this.#open = open;
    this.#forbidden = open.map(() => []);
  }

  /** The next choice that nothing forbids; undefined if there is none. */
  next(): readonly number[] | undefined {
    const count = this.#open.length;
    const places = this.#current?.map((write, i) => this.#open[i]!.candidates.indexOf(write)) ?? [0];
    const chosen = [...(this.#current ?? [])];
    // What was chosen before the first place that is forbidden now stays.
    let at = 0;
    while (at < chosen.length && this.#allowed(at, chosen.slice(0, at + 1))) at++;
    chosen.length = at;
    while (at < count) {
      const { candidates } = this.#open[at]!;
      for (; places[at]! < candidates.length; places[at]!++) {
        chosen[at] = candidates[places[at]!]!;
        if (this.#allowed(at, chosen)) break;
      }
      if (places[at]! < candidates.length) places[++at] = 0;
      else if (at === 0) return undefined;
      else {
        chosen.length = --at;
        places[at]!++;
      }
    }
    this.#current = chosen;
    return chosen;
  }

  #allowed(at: number, chosen: readonly number[]): boolean {
    return !this.#forbidden[at]!.some((choices) => choices.every(([read, write]) => chosen[read] === write));
  }

  /** Of the choice made, those that `used` names cannot be made together; all of them if it names none. */
  forbid(chosen: readonly number[], used?: (read: number, write: number) => boolean): void {
    const all = chosen.map((write, i) => [i, write] as const);
    const some = used === undefined ? all : all.filter(([i, write]) => used(this.#open[i]!.op, write));
    const choices = some.length === 0 ? all : some;
    this.#forbidden[choices.at(-1)?.[0] ?? 0]?.push(choices);
  }
}
