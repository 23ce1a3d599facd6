/**
 * Which rows did an UPDATE or DELETE with a condition change? Its answer is only a count. The condition is evaluated on the
 * rows the statement may have met, and the count chooses.
 *
 * What it met depends on when it looked. Rows are chosen by the statement's snapshot: its transaction's, or one of its own taken
 * when the statement arrived. COMMITs that overlap that moment may or may not be in it, so every prefix of them (in the order of
 * their answers) is a candidate for the moment (Pisco §4: interval candidates). At a candidate
 *
 * - an engine whose writes see the snapshot changes the rows that satisfy the condition there;
 * - an engine whose writes see what is current changes those that satisfy it there *and still do* when their locks are
 *   free, for it looks at them again after waiting (PostgreSQL, "Read Committed Isolation Level"). A row that was deleted
 *   meanwhile is gone for it, even if another with the same key was put in: it follows the versions of the row it chose.
 * - an engine that locks rows as it passes them sees each when it gets there: those behind the row for which it waited later than
 *   those before it. If no count fits, it came to some of them in between, when they did not satisfy the condition.
 *
 * Candidates with the right count remain. The latest is the likeliest: a statement that did not wait saw everything. If
 * only earlier ones remain, the statement had to be sent before the COMMITs it did not see, and waited.
 */

import type { Mechanism } from '../contracts/index.js';
import type { Operation } from '../histories/index.js';
import type { OrderStepId, RowId } from '../ids.js';
import { isHit, type Satisfies, sameCell, type Table } from '../rows/index.js';
import type { EvaluatedRow } from '../sql/index.js';
import { followWaits } from './chosen-rows.js';
import * as role from './conflicts.js';
import { because, type Order } from './evidence.js';
import { type MirrorState, scanLimit } from './mirror-state.js';
import { followPassed } from './passed-rows.js';

/** More overlapping COMMITs than these are not distinguished. */
const mostMoments = 24;

/** Rows for sure, rows perhaps, and how many there were. */
export function byCount(
  matched: number | undefined,
  hits: readonly number[],
  open: readonly number[],
): readonly number[] | undefined {
  if (matched === undefined) return open.length === 0 ? hits : undefined;
  if (matched === hits.length) return hits;
  if (matched === hits.length + open.length) return [...hits, ...open];
  return matched === 0 ? [] : undefined;
}

/** A statement that changes the rows of a table that satisfy a condition. */
export interface RangeChange {
  readonly table: Table;
  readonly where: Satisfies;
  /** What an UPDATE makes of a row; undefined: it cannot be known. */
  readonly apply?: ((row: EvaluatedRow) => EvaluatedRow | 'absent' | undefined) | undefined;
}

/** The rows a statement with a condition on other columns than the row's name has changed; undefined: it cannot be known. */
export function rangeTouched(
  state: MirrorState,
  step: OrderStepId,
  counts: Pick<Operation, 'matched' | 'changed'>,
  change: RangeChange,
): readonly number[] | undefined {
  const { matched } = counts;
  const { table, where } = change;
  const transaction = state.steps.transaction[step]!;
  const all = state.rows[table.number]!;
  if (state.blind.has(table) || all.size > scanLimit) return undefined;
  const rows = inTurn(state.mechanism, all.size) ? inKeyOrder(all) : [...all.values()];
  for (const row of rows) state.settle(step, row);
  const seen = state.snapshotOf(step, 'writesSee');
  const fits = ({ hits, open }: Candidate) => byCount(matched, hits, open) !== undefined;
  let moments = candidates(state, step, { rows, where, between: false });
  let counted = moments.filter(fits);
  if (counted.length === 0 && state.mechanism.passedRows !== undefined) {
    moments = candidates(state, step, { rows, where, between: true });
    counted = moments.filter(fits);
  }
  const exact = counted.filter(({ hits, open }) =>
    changesAsMany(state, step, byCount(matched, hits, open)!, {
      changed: counts.changed,
      apply: change.apply,
    }),
  );
  // If none changes as many rows as were changed, some value was not followed, and the count of rows that matched is all there is.
  const found = exact.length > 0 ? exact : counted;
  const best = chosenMoment(state, step, found);
  const differ = moments.some(
    ({ hits, chosen }) => String([hits, chosen]) !== String([moments[0]!.hits, moments[0]!.chosen]),
  );
  if (differ || best === undefined)
    state.uncertain.push({
      ...{ step, object: state.tableObject[table.number]!, what: 'moment', choices: moments.length },
      chosen: best === undefined ? -1 : moments.indexOf(best),
    });
  if (best === undefined) {
    state.note(`a statement on ${table.name} touched other rows than the mirror expects`);
    return undefined;
  }
  const touched = byCount(matched, best.hits, best.open)!;
  const object = state.tableObject[table.number]!;
  state.accesses.add(step, object, role.read);
  if (seen !== step) state.accesses.add(seen, object, role.snapshot);
  if (state.scanLocks) state.scanLock(step, table, true);
  const isPassed = state.mechanism.passedRows === 'released' && inTurn(state.mechanism, rows.length);
  const passRows = () => (isPassed ? followPassed(state, step, rows, { touched, where }) : []);
  if (!best.latest && seen === step) {
    state.early.add(step);
    if (state.looksAgain) return followWaits(state, step, { table, where, touched, unseen: best.unseen });
    passRows();
    const same = found.filter(({ hits }) => String(hits) === String(best.hits));
    const alternatives = same.map(({ orders }) => orders);
    state.locks.choices.push({ step, object, what: 'version', alternatives });
    return touched;
  }
  const known = new Set(touched);
  for (const row of passRows()) known.add(row);
  for (const row of touched) {
    if (state.doing[transaction]?.writes.wrote(row) === true) continue;
    if (seen !== step) state.needs.push({ step, snapshot: seen, row, expected: { type: 'some', where } });
  }
  for (const row of state.doing[transaction]?.writes.rows ?? []) known.add(row);
  state.scans.push({ step, snapshot: seen, table: object, where, known });
  return touched;
}

/** Whether a statement that touched these rows changed as many as the engine told, if it tells: that says which values they had. */
function changesAsMany(
  state: MirrorState,
  step: OrderStepId,
  touched: readonly number[],
  { changed, apply }: { readonly changed: number | undefined; readonly apply: RangeChange['apply'] },
): boolean {
  if (changed === undefined || apply === undefined || state.mechanism.writesSee !== 'current') return true;
  const transaction = state.steps.transaction[step]!;
  let different = 0;
  for (const row of touched) {
    const before = state.imageFor(transaction, row);
    const after = typeof before === 'string' ? undefined : apply(before);
    if (typeof before === 'string' || after === undefined || after === 'absent') return true;
    const same = after.map((cell, i) => sameCell(before[i] ?? null, cell));
    if (same.includes(false)) different++;
    else if (same.includes(undefined)) return true;
  }
  return different === changed;
}

/** Of the moments that fit the likeliest; or, if others have been asked for, one with other rows. */
function chosenMoment(
  state: MirrorState,
  step: OrderStepId,
  found: readonly Candidate[],
): Candidate | undefined {
  const best = state.looksAgain ? likeliest(found) : found[0];
  if (best === undefined) return undefined;
  const byRows = new Map([[String(best.hits), best]]);
  for (const one of found) if (!byRows.has(String(one.hits))) byRows.set(String(one.hits), one);
  if (byRows.size > 1) state.severalRows.set(step, byRows.size);
  return [...byRows.values()][state.rowChoices.get(step) ?? 0] ?? best;
}

/**
 * Of the moments with the right count the one when the statement was sent, or the first after it. Where the latest gives the same rows
 * it is the better one, for then the statement need not wait again.
 */
function likeliest(found: readonly Candidate[]): Candidate | undefined {
  const best = found.findLast(({ sent }) => sent !== 'before') ?? found[0];
  const latest = found.find(({ latest }) => latest);
  return latest !== undefined && String(latest.hits) === String(best?.hits) ? latest : best;
}

function inKeyOrder(rows: ReadonlyMap<string, number>): readonly number[] {
  const byName = new Intl.Collator('en', { numeric: true });
  return [...rows].sort(([a], [b]) => byName.compare(a, b)).map(([, row]) => row);
}

interface Candidate {
  /** Rows that satisfied the condition then; some of them may not do so when their locks are free. */
  readonly chosen: readonly number[];
  readonly hits: readonly number[];
  readonly open: readonly number[];
  readonly orders: readonly Order[];
  /** COMMITs around the statement that it does not see. */
  readonly unseen: ReadonlySet<number>;
  /** Every COMMIT that overlaps is in it. */
  readonly latest: boolean;
  /** `before`: it misses COMMITs that were sent before the statement. */
  readonly sent: 'before' | 'after';
}

interface Looking {
  readonly rows: readonly RowId[];
  readonly where: Satisfies;
  /** Rows that satisfied the condition at first and at last may have been passed by in between, when they did not. */
  readonly between: boolean;
}

/** What the statement may have met, the latest moment first. */
function candidates(state: MirrorState, step: OrderStepId, { rows, where, between }: Looking): Candidate[] {
  const { steps, objects, mechanism } = state;
  const transaction = steps.transaction[step]!;
  const seen = state.snapshotOf(step, 'writesSee');
  // Who has locked the whole table sees what is there then.
  const around =
    mechanism.locksTables === true ? [] : objects.overlappingCommits(rows, seen, steps).slice(-mostMoments);
  const made: Candidate[] = [];
  const object = objects.tableOf[rows[0] ?? 0] ?? 0;
  const own = rows.map((row) => state.doing[transaction]?.writes.wrote(row) === true);
  const now = rows.map((row) => isHit(state.imageFor(transaction, row), where));
  const follows = state.looksAgain;
  for (let moment = around.length; moment >= 0; moment--) {
    const unseen = new Set(around.slice(moment));
    const then = rows.map((row, i) => {
      if (own[i]) return now[i];
      if (follows && objects.goneSince(row, seen, unseen, steps)) return false;
      return isHit(objects.imageAt(row, seen, unseen, steps), where);
    });
    const wasOut = (row: RowId) =>
      between &&
      objects
        .imagesSince(row, seen, unseen, steps)
        .slice(0, -1)
        .some((image) => isHit(image, where) === false);
    const orders = around.map(
      (commit, i): Order =>
        i < moment
          ? { from: commit, to: seen, why: because.shows, object }
          : { from: seen, to: commit, why: because.misses, object },
    );
    const latest = moment === around.length;
    const chosen = rows.filter((_, i) => then[i] !== false);
    const sent = around.slice(moment).some((one) => steps.start[one]! < steps.start[seen]!)
      ? 'before'
      : 'after';
    for (const passed of latest ? [rows.length] : waits(rows, mechanism)) {
      const hits: number[] = [];
      const open: number[] = [];
      rows.forEach((row, i) => {
        const met = i < passed ? then[i] : now[i];
        const current = mechanism.writesSee === 'current' && !own[i];
        const hit =
          current && (met === false || now[i] === false) ? false : current ? met && now[i] : then[i];
        if (hit === undefined || (hit && wasOut(row))) open.push(row);
        else if (hit) hits.push(row);
      });
      made.push({ chosen, hits, open, orders, unseen, latest, sent });
    }
  }
  return made;
}

/** More rows than these are taken to be chosen all at once. */
const mostRowsInTurn = 32;

/**
 * How many rows a statement may have passed before it waited. Those behind it sees when it gets there, if it has no snapshot for all of
 * them: engines that lock what they pass read rows one after another, in the order of their keys.
 */
function waits(rows: readonly RowId[], mechanism: Mechanism): readonly number[] {
  return inTurn(mechanism, rows.length) ? rows.map((_, i) => rows.length - i) : [rows.length];
}

function inTurn({ passedRows }: Mechanism, count: number): boolean {
  return passedRows !== undefined && count <= mostRowsInTurn;
}
