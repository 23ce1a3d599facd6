/**
 * Decides a level where a value was written to a key more than once, or written to it and there from the start, so that it
 * is open which write some reads saw, or whether they saw one at all.
 *
 * 1. Without those reads: what is broken then is broken.
 * 2. Writers that a read cannot have seen are left out (`possible-writers.ts`). A read with one writer left saw that one, which may
 *    leave others with fewer; so again, until nothing changes. What is broken with the reads settled so is broken.
 * 3. A writer is chosen for each other read, the nearest before it in a likely order first, and the level decided as ever. If it
 *    holds, it holds. If not, the few transactions that break it name the choices that are impossible together; they are
 *    remembered, and the next choice of writers avoids them all. If none is left, the level is broken.
 *
 * The finding is that of the choice that breaks the least: a database that forbids what a worse choice shows may have made this one.
 */

import { printKvOp, printName } from '../../histories/index.js';
import { ofData, ofRow, phrase, type Step, say } from '../explanation.js';
import type { Finding } from '../finding.js';
import { mildnessOf } from '../graph/name-cycle.js';
import { baseOf, type CheckLevel, checkLevels, implies, weakestOf } from '../levels.js';
import { type Choice, ChoiceSearch } from './choice-search.js';
import { type Decision, decideLevel, sameQuestion } from './decide.js';
import type { Effort } from './effort.js';
import { describeOps, describeTx, noOrderFinding, ofTx } from './kv-findings.js';
import { minimalCore, withSources } from './order/refutation.js';
import { possibleWriters } from './possible-writers.js';
import { type PreparedKv, prepareFor } from './prepared-kv.js';
import { listsShorten, renamedHistory } from './renamed-history.js';
import { resolveReads } from './resolve-reads.js';
import { initialState, type OpenRead, type ResolvedKv } from './resolved-kv.js';

/** `reads`: the transaction that each open read is taken to have seen. */
export type ChosenDecision = Decision & { readonly reads?: Readonly<Record<string, number>> };

export function decideWithChoices(prepared: PreparedKv, level: CheckLevel, effort: Effort): ChosenDecision {
  const without = decideLevel(prepared, level, effort);
  const needless = prepared.resolved.openReads.length === 0 || baseOf(level) === 'read uncommitted';
  if (needless || without.outcome !== 'holds') return without;
  const settled = settleReads(prepared, level, effort);
  const { resolved } = settled.prepared;
  if (settled.reads.length > 0) {
    const decision = decideLevel(settled.prepared, level, effort);
    if (decision.outcome === 'unknown') return decision;
    if (decision.outcome === 'broken') {
      const findings = (): readonly Finding[] =>
        decision.findings().map((finding) => ({
          ...withOnlyWriters(resolved, finding, settled.reads),
          // At other levels those reads may have seen other writers.
          rulesOut: [sameQuestion(level)],
        }));
      return { ...decision, findings };
    }
  }
  return tryChoices(resolved, level, { ...settled, effort });
}

interface Settled {
  /** The history with the reads settled that have one writer left. */
  readonly prepared: PreparedKv;
  readonly reads: readonly number[];
  readonly open: readonly OpenRead[];
}

/** Settles the reads that can have seen one writer only. */
function settleReads(prepared: PreparedKv, level: CheckLevel, effort: Effort): Settled {
  let now = prepared;
  const reads: number[] = [];
  for (;;) {
    const open = possibleWriters(now, level, effort);
    const certain = open.filter(({ candidates }) => candidates.length === 1);
    if (certain.length === 0 || effort.spent()) return { prepared: now, reads, open };
    const readsFrom = now.resolved.readsFrom.slice();
    for (const { op, candidates } of certain) {
      reads.push(op);
      readsFrom[op] = candidates[0]!;
    }
    const openReads = open.filter(({ candidates }) => candidates.length > 1);
    now = prepareFor({ ...now.resolved, readsFrom, openReads }, level);
  }
}

/** Tries writers for the reads that are still open. */
function tryChoices(
  resolved: ResolvedKv,
  level: CheckLevel,
  { open, reads, effort }: Omit<Settled, 'prepared'> & { readonly effort: Effort },
): ChosenDecision {
  const choice = new ChoiceSearch(open.map(({ candidates }) => candidates));
  const refuted: (readonly Choice[])[] = [];
  for (let attempt = 1; ; attempt++) {
    const chosen = effort.spent() ? undefined : choice.next(() => effort.spent());
    if (effort.spent()) {
      const reason = `no writer was found for each of ${open.length} reads of repeated values`;
      return { outcome: 'unknown', reason };
    }
    effort.progress(`choosing writers of repeated values, attempt ${attempt}`);
    if (chosen === undefined) {
      const findings = (): readonly Finding[] => [
        brokenBy(resolved, level, { open, refuted, settled: reads.length > 0, effort }),
      ];
      return { outcome: 'broken', txs: [], findings };
    }
    const whole = withChoices(resolved, open, chosen);
    const decision = decideLevel(prepareFor(whole, level), level, effort);
    if (decision.outcome === 'unknown') return decision;
    if (decision.outcome === 'holds') {
      const seen = [...reads, ...open.map(({ op }) => op)];
      const sources = seen.map((op) => [op, txOf(resolved, whole.readsFrom[op]!)] as const);
      return { ...decision, reads: Object.fromEntries(sources) };
    }
    const used = impossible(resolved, level, { open, chosen, txs: decision.txs, effort });
    choice.forbid(used);
    refuted.push(used);
  }
}

/** Choices that are impossible together, and how. */
interface Refuted {
  readonly finding: Finding;
  /** Each read (a position among the open ones) with the write it would have seen. */
  readonly used: readonly Choice[];
}

interface Refutations {
  readonly open: readonly OpenRead[];
  readonly refuted: readonly (readonly Choice[])[];
  /** Were other reads settled before, as the level asked for allows? */
  readonly settled: boolean;
  readonly effort: Effort;
}

/** Seconds for the arguments of refuted choices. */
const argumentSeconds = 10;

/** What no choice of writers avoids: the finding of the choices that break the least, with all who take part in any. */
function brokenBy(
  resolved: ResolvedKv,
  level: CheckLevel,
  { open, refuted, settled, effort }: Refutations,
): Finding {
  const limit = effort.again(argumentSeconds);
  const argued: Refuted[] = [];
  for (const used of refuted) {
    if (argued.length > 0 && limit.spent()) break;
    const chosen: number[] = [];
    for (const [i, write] of used) chosen[i] = write;
    const made = used.map(([i]) => i);
    const whole = withChoices(resolved, open, chosen, made);
    const decision = decideLevel(prepareFor(whole, level), level, limit);
    const [finding] = decision.outcome === 'broken' ? decision.findings() : [];
    if (finding !== undefined) argued.push({ finding, used });
  }
  const involved = new Set(argued.flatMap(({ finding }) => finding.transactions.map(({ id }) => id)));
  for (const { op, candidates } of open) {
    if (!involved.has(resolved.opTx[op]!)) continue;
    for (const write of candidates) if (write >= 0) involved.add(resolved.opTx[write]!);
  }
  const rank = ({ finding }: Refuted): number => mildnessOf(finding.kind);
  const mildest = argued.toSorted((a, b) => rank(b) - rank(a))[0];
  if (mildest === undefined) return noOrderFinding(resolved, [...involved], level);
  const { finding } = mildest;
  const added = withSources(resolved, involved)
    .filter((tx) => !finding.transactions.some(({ id }) => id === tx))
    .slice(0, 50);
  return {
    ...finding,
    certainty: 'proved-by-search',
    rulesOut: settled || argued.length < refuted.length ? [sameQuestion(level)] : brokenByAll(argued, level),
    transactions: [...finding.transactions, ...added.map((tx) => describeTx(resolved.history, tx))],
    operations: [...finding.operations, ...added.flatMap((tx) => describeOps(resolved.history, tx))],
    explanation: explainChoices(resolved, level, { open, mildest, argued, count: refuted.length }),
  };
}

/** The weakest levels that every one of the refuted choices breaks. */
function brokenByAll(argued: readonly Refuted[], level: CheckLevel): readonly CheckLevel[] {
  const byAll = checkLevels.filter((other) =>
    argued.every(({ finding }) => finding.rulesOut.some((weak) => implies(other, weak))),
  );
  return weakestOf([...byAll, sameQuestion(level)]);
}

/** Refutations that are shown case by case; of more only the one that names the finding is. */
const mostCases = 3;

function explainChoices(
  resolved: ResolvedKv,
  level: CheckLevel,
  {
    open,
    mildest,
    argued,
    count,
  }: {
    readonly open: readonly OpenRead[];
    readonly mildest: Refuted;
    readonly argued: readonly Refuted[];
    readonly count: number;
  },
): Step[] {
  const { history, opTx } = resolved;
  const supposed = ({ used }: Refuted): Step[] =>
    used.map(([read, write]) => {
      const { op } = open[read]!;
      const reader = ofTx(history, opTx[op]!);
      const text = ofData(printKvOp(history, op));
      return write === initialState
        ? say.suppose`Suppose that ${reader} saw the initial state in ${text}.`
        : say.suppose`Suppose that ${reader} saw what ${ofTx(history, opTx[write]!)} wrote in ${text}.`;
    });
  const others = argued.filter((each) => each !== mildest);
  const shown = count <= mostCases ? [mildest, ...others] : [mildest];
  const rest = count - shown.length;
  return [
    ...shown.flatMap((each) => [...supposed(each), ...each.finding.explanation]),
    say.contradiction`${rest === 0 ? 'These are all the cases' : `${rest} more cases were tried`}: whichever writers the reads of repeated values saw, ${level} is broken.`,
  ];
}

/** A finding that says of which of its reads only one writer is possible. */
function withOnlyWriters(resolved: ResolvedKv, finding: Finding, settled: readonly number[]): Finding {
  const { history, opTx, readsFrom } = resolved;
  const among = new Set(finding.transactions.map(({ id }) => id));
  const steps = settled
    .filter(
      (op) => among.has(opTx[op]!) && (readsFrom[op] === initialState || among.has(opTx[readsFrom[op]!]!)),
    )
    .map((op): Step => {
      const source = readsFrom[op]!;
      const seen =
        source === initialState ? 'the initial state' : phrase`what ${ofTx(history, opTx[source]!)} wrote`;
      const key = ofRow(printName(history.keyNames[history.opKey[op]!]!));
      return say.fact`${ofData(printKvOp(history, op))} of ${ofTx(history, opTx[op]!)} can only have seen ${seen}: whoever else wrote that value to ${key} comes too late or was overwritten before.`;
    });
  return steps.length === 0 ? finding : { ...finding, explanation: [...steps, ...finding.explanation] };
}

/** The transaction of a write; -1 for the initial state. */
const txOf = ({ opTx }: ResolvedKv, write: number): number => (write === initialState ? -1 : opTx[write]!);

/** The history in which the open reads that `made` names, or all, saw the write chosen for them. */
function withChoices(
  resolved: ResolvedKv,
  open: readonly OpenRead[],
  chosen: readonly number[],
  made: Iterable<number> = open.keys(),
): ResolvedKv {
  const readsFrom = resolved.readsFrom.slice();
  for (const i of made) readsFrom[open[i]!.op] = chosen[i]!;
  return { ...resolved, readsFrom, openReads: [] };
}

/**
 * The choices that are impossible together, none of which can be left out. They are made one after the other: those behind the first
 * that breaks the level are not part of it. Where a few transactions break it alone, only what these read is looked at.
 */
function impossible(
  resolved: ResolvedKv,
  level: CheckLevel,
  {
    open,
    chosen,
    txs,
    effort,
  }: {
    readonly open: readonly OpenRead[];
    readonly chosen: readonly number[];
    readonly txs: readonly number[];
    readonly effort: Effort;
  },
): readonly Choice[] {
  const few = withSources(withChoices(resolved, open, chosen), txs);
  const breaksWith = (made: readonly number[], only?: readonly number[]): boolean => {
    const whole = withChoices(resolved, open, chosen, made);
    const shorten = listsShorten(level);
    const judged = only === undefined ? whole : resolveReads(renamedHistory(whole, only, { shorten }));
    return decideLevel(prepareFor(judged, level), level, effort).outcome === 'broken';
  };
  const all = [...open.keys()];
  const alone = few.length > 0 && breaksWith(all, few) ? few : undefined;
  const ofFew = new Set(alone);
  const made = alone === undefined ? all : all.filter((i) => ofFew.has(resolved.opTx[open[i]!.op]!));
  let [low, high] = [0, made.length];
  while (low < high && !effort.spent()) {
    const middle = (low + high) >> 1;
    if (breaksWith(made.slice(0, middle), alone)) high = middle;
    else low = middle + 1;
  }
  const used = minimalCore(
    made.slice(0, high),
    (some) => breaksWith(some, alone),
    () => effort.spent(),
  );
  return used.map((i): Choice => [i, chosen[i]!]);
}
