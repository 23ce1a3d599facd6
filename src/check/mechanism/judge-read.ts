/**
 * Reads of one table, row by row.
 *
 * For each row of the mirror: which lines may it contribute to the result? One for every allowed version that satisfies
 * the WHERE; none, if some allowed version does not. Then the result is compared with that, as a bag:
 *
 * - a line that more rows of the result show than rows of the table can contribute is one too many;
 * - a line that fewer show than rows must contribute is missing.
 *
 * Where the result tells which row a line is of, each row is compared by itself; otherwise only the numbers are. Rows
 * whose values are unknown, or whose predicate cannot be evaluated, may contribute anything: they excuse, never accuse.
 *
 * Rows seen by statements that meet current rows one by one (locking reads) are not required while several versions are
 * possible: an index scan can pass by a row that moves.
 */

import { rowText, type ScanPlan } from '../../rows/index.js';
import { type EvaluatedRow, isUndecidable } from '../../sql/index.js';
import type { RowLines } from './access-observer.js';
import { mayTouch } from './in-flight.js';
import { learnFromRead } from './learn.js';
import { lookAt, type Outlook } from './outlook.js';
import { type RowProblem, reportRows } from './report-rows.js';
import { imagesOf, type RowChain, type View } from './row-chain.js';
import type { Expectation, Line, ScanRead } from './scan-read.js';
import { noteSnapshot } from './snapshot-notes.js';
import type { Verification } from './verification.js';

/** Compares a read with the mirror; reports what does not fit. Returns the rows that were certainly read. */
export function judgeScan(verification: Verification, read: ScanRead): readonly RowChain[] {
  const { tx, plan, view, table, lines, operation } = read;
  const pending = verification.inFlight.on(table.info.name, tx, view.span);
  const look = { view, tx, exclusive: verification.exclusive, pending };
  const expect = (row: RowChain): Expectation => expectRow(lookAt(row, look), plan, view);
  const expectations = new Map<string, Expectation>();
  const quiet = pending.length === 0 && verification.certifier === undefined;
  if (plan.keys === undefined) {
    for (const [key, row] of table.rows)
      if (!quiet || !isPlainlyOut(row, plan)) expectations.set(key, expect(row));
  }
  for (const key of plan.keys ?? []) expectations.set(key, expect(table.row(key)));
  const problems: RowProblem[] = [];
  const keyed = lines.every((line) => line.key !== undefined);
  if (keyed) {
    const shown = new Map<string, Line>();
    for (const line of lines) {
      const key = line.key!;
      const expectation = expectations.get(key) ?? expect(table.row(key));
      expectations.set(key, expectation);
      // A scan of current rows can meet a row again that moved on.
      if (shown.has(key) && !view.current) {
        // A write whose answer is not known may have put in a second row with that value.
        if (table.info.basis === 'shown' && mayTouch(pending, key)) table.endIdentity();
        problems.push({ kind: 'twice', expectation, line });
      } else if (!explains(expectation, line)) problems.push({ kind: 'wrong', expectation, line });
      shown.set(key, line);
    }
    for (const [key, expectation] of expectations)
      if (!shown.has(key) && isRequired(expectation, plan)) problems.push({ kind: 'missing', expectation });
    if (problems.length === 0) {
      for (const [key, expectation] of expectations) {
        const line = shown.get(key);
        // What SKIP LOCKED leaves out may be locked, not absent.
        if (line === undefined && plan.skipsLocked) {
          expectations.delete(key);
          continue;
        }
        if (!view.dirty) learnFromRead(expectation, line, view, verification.exclusive);
        noteSnapshot(verification, read, expectation, line);
      }
    }
  } else {
    const all = [...expectations.values()];
    const moving = view.current && all.some(({ outlook }) => outlook.versions.length > 1);
    problems.push(...compareNumbers(all, lines, plan, moving || pending.length > 0 || !table.closed));
  }
  reportRows(verification, read, problems);
  const { tally, observer } = verification;
  if (observer !== undefined) {
    const judged = [...expectations.values()];
    observer.scanned(read, judged, linesByRow(judged, lines, keyed));
  }
  tally.reads++;
  tally.rows += lines.length;
  const all = [...expectations.values()];
  if (all.some((expectation) => expectation.open || expectation.outlook.images.length > 1))
    tally.ambiguousReads++;
  if (problems.length > 0) return [];
  if (keyed || !plan.skipsLocked) verification.certifier?.observe(read, [...expectations.values()], keyed);
  if (operation.ends !== undefined) return [];
  if (keyed) return lines.map((line) => expectations.get(line.key!)!.outlook.row);
  return all
    .filter((expectation) => isRequired(expectation, plan))
    .map((expectation) => expectation.outlook.row);
}

/** Where lines have no names, each row takes one that it explains and no other has taken. */
function linesByRow(expectations: readonly Expectation[], lines: readonly Line[], keyed: boolean): RowLines {
  if (keyed) {
    const byKey = new Map(lines.map((line) => [line.key, line]));
    return { of: ({ outlook }) => byKey.get(outlook.row.key), left: [] };
  }
  const left = new Set(lines);
  const taken = new Map<Expectation, Line>();
  for (const expectation of expectations) {
    const line = [...left].find((each) => expectation.inside.some((image) => each.fits(image) !== false));
    if (line === undefined) continue;
    left.delete(line);
    taken.set(expectation, line);
  }
  // A row whose values are not known may have given any line.
  const open = expectations.filter((each) => each.open && !taken.has(each));
  for (const [i, line] of [...left].slice(0, open.length).entries()) {
    left.delete(line);
    taken.set(open[i]!, line);
  }
  return { of: (expectation) => taken.get(expectation), left: [...left] };
}

/** Most rows of a table have one version, which everybody sees and the condition does not select. */
function isPlainlyOut(row: RowChain, plan: ScanPlan): boolean {
  if (row.versions.length !== 1) return false;
  const images = imagesOf(row.versions[0]!);
  return images.length === 1 && typeof images[0] === 'object' && plan.where(images[0]) === false;
}

export function expectRow(outlook: Outlook, plan: Pick<ScanPlan, 'where'>, view: View): Expectation {
  const inside: EvaluatedRow[] = [];
  let mayBeOut = false;
  let open = outlook.unknown;
  for (const image of outlook.images) {
    if (image === 'absent') mayBeOut = true;
    else if (image === 'unknown') open = true;
    else {
      const satisfied = plan.where(image);
      if (satisfied === undefined) open = true;
      else if (satisfied) inside.push(image);
      else mayBeOut = true;
    }
  }
  // A scan of current rows can pass by a row that changes meanwhile.
  if (view.current && outlook.versions.length > 1) mayBeOut = true;
  return { outlook, inside, mayBeIn: open || inside.length > 0, mayBeOut: open || mayBeOut, open };
}

export function isRequired(expectation: Expectation, plan: Pick<ScanPlan, 'skipsLocked'>): boolean {
  return !expectation.mayBeOut && !plan.skipsLocked;
}

function explains(expectation: Expectation, line: Line): boolean {
  return expectation.open || expectation.inside.some((image) => line.fits(image) !== false);
}

/** Without names, only how often each line occurs can be compared. */
function compareNumbers(
  expectations: readonly Expectation[],
  lines: readonly Line[],
  plan: ScanPlan,
  moreRowsPossible: boolean,
): RowProblem[] {
  const groups = new Map<string, Line[]>();
  for (const line of lines) groups.set(line.id, [...(groups.get(line.id) ?? []), line]);
  const anything = moreRowsPossible || expectations.some((expectation) => expectation.open);
  const problems: RowProblem[] = [];
  for (const [, same] of groups) {
    const line = same[0]!;
    const able = expectations.filter(
      (expectation) => expectation.open || expectation.inside.some((image) => line.fits(image) !== false),
    );
    if (same.length > able.length && !anything) problems.push({ kind: 'extra-line', line });
  }
  const fixed = new Map<string, { count: number; expectation: Expectation }>();
  for (const expectation of expectations) {
    if (!isRequired(expectation, plan) || expectation.inside.length !== 1) continue;
    const projected = plan.project(expectation.inside[0]!);
    if (projected.some((cell) => isUndecidable(cell))) continue;
    const text = rowText(projected);
    const entry = fixed.get(text) ?? { count: 0, expectation };
    entry.count++;
    fixed.set(text, entry);
  }
  for (const [text, { count, expectation }] of fixed)
    if ((groups.get(text)?.length ?? 0) < count) problems.push({ kind: 'missing', expectation });
  const required = expectations.filter((expectation) => isRequired(expectation, plan));
  if (problems.length === 0 && lines.length < required.length)
    problems.push({ kind: 'missing', expectation: required[0]! });
  const possible = expectations.filter((expectation) => expectation.mayBeIn);
  if (problems.length === 0 && lines.length > possible.length && !anything)
    problems.push({ kind: 'extra-line', line: lines[0]! });
  return problems;
}
