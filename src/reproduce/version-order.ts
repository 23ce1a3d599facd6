/**
 * The orders that reads prove. A snapshot that shows version i of a row was taken after the COMMIT that published it and
 * before the COMMIT that published version i + 1.
 *
 * Values recur, so a value alone does not name its version. But only few versions can be meant at all: those whose
 * COMMIT overlaps the snapshot in time, and the last one before. Among these *interval candidates* the read's result decides:
 *
 * 1. No COMMIT overlaps: time has decided; the result is only compared.
 * 2. The candidates that fit stand next to each other: whichever of them it was, the snapshot lies between the first's
 *    COMMIT and the one after the last.
 * 3. They do not: ambiguous. Each run of candidates that fit is an alternative; `solve.ts` finds those that go together
 *    (Pisco §4, data version disambiguation).
 * 4. None fits: unexplained. The bug may be that it saw something newer than its snapshot, so the versions around the read itself
 *    are looked at in the same way; orders found there are guesses.
 *
 * What a read shows is observed; that a transaction overwrites only what its snapshot shows is presumed (`locks.ts`). Where
 * the two contradict each other the write is what is unexplained.
 */

import type { OrderStepId, RowId } from '../ids.js';
import { isHit, type Satisfies } from '../rows/index.js';
import { because, type Evidence, type Expected, explains, type Need, type Order } from './evidence.js';
import { overwrote } from './locks.js';
import type { TableChanges } from './table-changes.js';

/** Adds what all reads show: edges where one order explains a read, choices where several do. */
export function addVersionOrder(evidence: Evidence, changes: ReadonlyMap<number, TableChanges>): void {
  const before = evidence.edges.from.length;
  for (const need of evidence.needs) orderNeed(evidence, need);
  orderScans(evidence, changes);
  tellOverwrites(evidence, before);
  if (evidence.readsByRow) tellHalves(evidence, before);
}

/**
 * A statement that saw one row as a writer left it and another as it was before that writer, or before one that came earlier, met its rows
 * while they were changed. No order of statements brings that about, so it is told. `from`: the first edge of a read.
 */
function tellHalves({ edges, steps, uncertain }: Evidence, from: number): void {
  const seen = new Map<OrderStepId, { readonly shown: OrderStepId[]; readonly missed: OrderStepId[] }>();
  const of = (step: OrderStepId) => {
    const found = seen.get(step) ?? { shown: [], missed: [] };
    seen.set(step, found);
    return found;
  };
  for (let i = from; i < edges.from.length; i++) {
    if (edges.why.at(i) === because.shows) of(edges.to.at(i)).shown.push(edges.from.at(i));
    else if (edges.why.at(i) === because.misses) of(edges.from.at(i)).missed.push(edges.to.at(i));
  }
  const { session, start, end } = steps;
  const notAfter = (a: OrderStepId, b: OrderStepId) =>
    session[a] === session[b] ? a <= b : end[a]! < start[b]!;
  for (const [step, { shown, missed }] of seen)
    if (missed.some((one) => shown.some((other) => notAfter(one, other))))
      uncertain.push({ step, object: edges.object.at(from), what: 'moment', choices: 2, chosen: -1 });
}

function orderNeed(evidence: Evidence, need: Need): void {
  if (versionFits(evidence, need, false) || waitedForNew(evidence, need)) return;
  evidence.unexplained.push({ step: need.step, object: need.row, what: saw(need.expected) });
  if (need.snapshot !== need.step) versionFits(evidence, { ...need, snapshot: need.step }, true);
}

/**
 * A statement that found no row though every version has one: it had chosen the old row, waited for the transaction that deleted it and
 * put another in, and found it gone. So it was sent after that transaction had the row, and before its COMMIT.
 */
function waitedForNew(evidence: Evidence, { step, snapshot, row, expected }: Need): boolean {
  const { objects, steps, edges, locks, waits } = evidence;
  const chain = objects.chains[row];
  if (expected.type !== 'none' || !evidence.looksAgain || snapshot !== step || chain === undefined)
    return false;
  const last = chain.newestPossible(steps.end[step]!, steps.spans);
  const before = chain.newestSettled(steps.start[step]!, steps.spans, last);
  for (let version = last; version > before; version--) {
    const commit = chain.versions[version]!;
    if (!chain.isRenewed(version) || steps.session[commit] === steps.session[step]) continue;
    waits.add(step);
    edges.add({ from: step, to: commit, why: because.misses, object: row });
    for (let i = 0; i < locks.step.length; i++) {
      const holder = locks.step.at(i);
      if (locks.object.at(i) === row && steps.transaction[holder] === steps.transaction[commit])
        edges.add({ from: holder, to: step, why: because.lock, object: row });
    }
    return true;
  }
  return false;
}

/** Adds the orders under which a snapshot shows what was read; false: there are none. */
function versionFits(evidence: Evidence, need: Need, soft: boolean): boolean {
  const { objects, steps, edges } = evidence;
  const chain = objects.chains[need.row];
  const { snapshot, expected } = need;
  const imageAt = (version: number) => objects.imageOf(need.row, version);
  const fitsAt = (version: number) =>
    expected.type === 'chosen'
      ? isKept(evidence, need.row, { version, last, where: expected.where }) !== !expected.kept
      : explains(imageAt(version), expected) !== false;
  let last = -1;
  let before = -1;
  if (chain !== undefined) {
    last = chain.newestPossible(steps.end[snapshot]!, steps.spans);
    // A step does not see what it publishes itself.
    while (last >= 0 && chain.versions[last] === snapshot) last--;
    before = chain.newestSettled(steps.start[snapshot]!, steps.spans, last);
  }
  if (before === last) return fitsAt(last);
  const fits: [number, number][] = [];
  for (let version = before; version <= last; version++) {
    if (!fitsAt(version)) continue;
    const run = fits.at(-1);
    if (run !== undefined && run[1] === version - 1) run[1] = version;
    else fits.push([version, version]);
  }
  if (fits.length === 1) {
    for (const order of ordersOf(evidence, need, { before, last }, fits[0]!)) edges.add(order, soft);
  } else if (fits.length > 1) {
    const alternatives = fits.map((run) => ordersOf(evidence, need, { before, last }, run));
    evidence.choices.push({ step: need.step, object: need.row, what: 'version', alternatives });
  }
  return fits.length > 0;
}

/**
 * Whether a row that is chosen in one version is still there and satisfies the condition in the last; undefined: it cannot be known.
 * Once deleted it is gone, even if another with its name was put in.
 */
function isKept(
  { objects }: Evidence,
  row: RowId,
  { version, last, where }: { readonly version: number; readonly last: number; readonly where: Satisfies },
): boolean | undefined {
  if (objects.imageOf(row, version) === 'absent') return false;
  for (let at = version + 1; at <= last; at++) if (objects.endsAt(row, at)) return false;
  const [then, now] = [isHit(objects.imageOf(row, version), where), isHit(objects.imageOf(row, last), where)];
  return then === false || now === false ? false : then && now;
}

/** Writes that their transaction's snapshot, as its reads show, should have forbidden. `from`: the first edge of a read. */
function tellOverwrites({ edges, steps, unexplained, locks }: Evidence, from: number): void {
  const presumed = new Map<number, number>();
  for (let i = 0; i < from; i++)
    if (edges.why.at(i) === because.firstUpdater)
      presumed.set(edges.to.at(i) * steps.count + edges.from.at(i), edges.object.at(i));
  if (presumed.size === 0) return;
  const found = new Set<number>();
  for (let i = from; i < edges.from.length; i++) {
    const pair = edges.from.at(i) * steps.count + edges.to.at(i);
    if (edges.why.at(i) === because.misses && presumed.has(pair)) found.add(pair);
  }
  if (found.size === 0) return;
  const writes = new Map<string, number>();
  for (let i = 0; i < locks.step.length; i++)
    writes.set(`${steps.transaction[locks.step.at(i)!]} ${locks.object.at(i)}`, locks.step.at(i)!);
  for (const pair of found) {
    const object = presumed.get(pair)!;
    const step = writes.get(`${steps.transaction[Math.floor(pair / steps.count)]} ${object}`);
    if (step !== undefined) unexplained.push({ step, object, what: overwrote });
  }
}

function saw(expected: Expected): string {
  return expected.type === 'none'
    ? 'did not see a row that every version at hand has'
    : 'saw what no version at hand has';
}

/** The COMMITs next to a run of versions: the snapshot stands after the first's and before the one after the last. */
function ordersOf(
  { steps, objects }: Evidence,
  { row, snapshot }: Need,
  /** The newest version that every snapshot at hand has, and the newest that one may have. */
  { before, last }: { readonly before: number; readonly last: number },
  [first, final]: readonly [number, number],
): Order[] {
  const { versions: publish } = objects.chains[row]!;
  const orders: Order[] = [];
  const apart = (step: OrderStepId) => steps.session[step] !== steps.session[snapshot];
  if (first > before && apart(publish[first]!))
    orders.push({ from: publish[first]!, to: snapshot, why: because.shows, object: row });
  if (final < last && apart(publish[final + 1]!))
    orders.push({ from: snapshot, to: publish[final + 1]!, why: because.misses, object: row });
  return orders;
}

/** For reads of whole tables: the rows that COMMITs around the snapshot changed. */
function orderScans(evidence: Evidence, changes: ReadonlyMap<number, TableChanges>): void {
  const { scans, steps } = evidence;
  const done = new Set<number>();
  for (const { step, snapshot, table, where, known, kept } of scans) {
    done.clear();
    const span = { start: steps.start[snapshot]!, end: steps.end[snapshot]! };
    changes.get(table)!.around(span, (row) => {
      if (known.has(row) || done.has(row)) return;
      done.add(row);
      const expected: Expected =
        kept === undefined ? { type: 'none', where } : { type: 'chosen', kept: kept.has(row), where: where! };
      orderNeed(evidence, { step, snapshot, row, expected });
    });
  }
}
