/**
 * Where the damage of a bug shows only later: reads at the end of its case that return something else than the answers before them
 * say. What they should return is decided by the contract's own model of rows (`acknowledged-state.ts`), or not at all.
 */
import { answerText, type Operation, transactionNames } from '../histories/index.js';
import { sameCell } from '../rows/index.js';
import type { EvaluatedRow, Value } from '../sql/index.js';
import { acknowledgedReads, type RightCounts } from './acknowledged-state.js';
import type { Bug } from './bug.js';
import { mechanismOf } from './mechanism-of.js';

export interface ClosingDamage {
  readonly operation: Operation;
  readonly actual: string;
  /** `(1), or an error in T2`. */
  readonly expected: string;
}

/** Reduced cases are short; a history that was never reduced is looked at elsewhere. */
const mostOperations = 200;

/** The reads at the end that show damage which the finding itself does not name. */
export function closingDamage({ finding, history }: Pick<Bug, 'finding' | 'history'>): ClosingDamage[] {
  const { target, level } = history.header;
  if (target === undefined || level === undefined || history.operations.length > mostOperations) return [];
  const contract = mechanismOf({ contract: finding.contract, target, level });
  if (contract === undefined) return [];
  const judged = new Set((finding.versions ?? []).map(({ operation }) => operation));
  // A read that says what the finding's own read said shows nothing new.
  const shown = new Set(
    history.operations.flatMap((operation) => (judged.has(operation.index) ? [saidBy(operation)] : [])),
  );
  const names = transactionNames(history);
  return acknowledgedReads(history, contract, rightCounts(finding)).flatMap(
    ({ operation, expected, writers }) => {
      if (
        judged.has(operation.index) ||
        shown.has(saidBy(operation)) ||
        !differ(expected, operation.rows ?? [])
      )
        return [];
      const who = writers.flatMap((id) => names.get(id) ?? []).join(', ');
      const rows = answerText({ ...operation, rows: expected as readonly (readonly Value[])[] });
      return [
        {
          operation,
          actual: answerText(operation),
          expected: who === '' ? rows : `${rows}, or an error in ${who}`,
        },
      ];
    },
  );
}

/** What writes should have matched, where the finding is that they matched other rows. */
function rightCounts({ versions = [] }: Bug['finding']): RightCounts {
  return new Map(
    versions.flatMap(({ operation, seen, allowed: [right, ...others] }) => {
      if (seen.as !== 'matched' || right?.as !== 'matched' || others.length > 0) return [];
      return typeof right.count === 'number' ? [[operation, right.count] as const] : [];
    }),
  );
}

function saidBy(operation: Operation): string {
  return `${operation.sql} ${answerText(operation)}`;
}

/** Whether two results certainly hold other rows, in whatever order. */
function differ(expected: readonly EvaluatedRow[], actual: NonNullable<Operation['rows']>): boolean {
  if (expected.length !== actual.length) return true;
  const left = [...actual];
  for (const row of expected) {
    const same = left.map((other) => sameRow(row, other));
    // A spelling that may or may not be the same value decides nothing.
    if (same.includes(undefined)) return false;
    const at = same.indexOf(true);
    if (at < 0) return true;
    left.splice(at, 1);
  }
  return false;
}

function sameRow(a: EvaluatedRow, b: readonly Value[]): boolean | undefined {
  if (a.length !== b.length) return undefined;
  const cells = a.map((cell, i) => sameCell(cell, b[i]!));
  if (cells.includes(false)) return false;
  return cells.includes(undefined) ? undefined : true;
}
