/** Whether a check holds for the answers it looks at: true, false, or not decided and why. */
import { errorText } from '../errors.js';
import type { OperationError } from '../histories/index.js';
import {
  isUndecidable,
  type Row,
  type Undecidable,
  undecidable,
  type Value,
  valueKey,
} from '../sql/index.js';
import type { Check, Count, ResultId } from './interaction.js';

/** What a statement answered. */
export interface ResultSeen {
  readonly rows?: readonly Row[] | undefined;
  /** Rows a write matched, and rows it changed; engines report the one, the other or both. */
  readonly matched?: number | undefined;
  readonly changed?: number | undefined;
  readonly error?: OperationError | undefined;
}

export interface Judged {
  /** What a statement answered; undefined: it was not sent. */
  readonly seen: (id: ResultId) => ResultSeen | undefined;
  /** What the shadow state says that it answers. */
  readonly predicted: (id: ResultId) => readonly Row[] | Undecidable;
}

/** Thrown inside, turned into the answer: something a check needs is not there. */
class Missing extends Error {}

export function judgeCheck(check: Check, judged: Judged): boolean | Undecidable {
  try {
    return holds(check, judged);
  } catch (thrown) {
    if (thrown instanceof Missing) return undecidable(thrown.message);
    throw thrown;
  }
}

/** The same question asked of the shadow state: whether the check has to hold at all. */
export function expectedOf(check: Check, judged: Judged): boolean | Undecidable {
  if (check.type === 'fails' || check.type === 'works' || check.type === 'one-fails')
    return undecidable('the shadow state predicts no errors');
  if (check.type === 'other-count') return undecidable('the shadow state predicts no counts of writes');
  if (check.type === 'predicted') return true;
  return judgeCheck(check, {
    ...judged,
    seen: (id) => {
      const rows = judged.predicted(id);
      if (isUndecidable(rows)) throw new Missing(rows.undecidable);
      return { rows };
    },
  });
}

function holds(check: Check, judged: Judged): boolean | Undecidable {
  const rows = (id: ResultId) => rowsOf(id, judged);
  switch (check.type) {
    case 'same':
      return sameBag(rows(check.left), rows(check.right));
    case 'contains':
      return rows(check.result).some((row) => keyOfRow(row) === keyOfRow(check.row));
    case 'lacks':
      return !rows(check.result).some((row) => keyOfRow(row) === keyOfRow(check.row));
    case 'differs':
      return !sameBag(rows(check.result), check.rows);
    case 'equal':
      return countOf(check.left, judged) === countOf(check.right, judged);
    case 'fails': {
      const { error } = answerOf(check.result, judged);
      return error !== undefined && (check.classes?.includes(error.class) ?? true);
    }
    case 'works':
      return answerOf(check.result, judged).error === undefined;
    case 'one-fails':
      return check.results.some((id) => answerOf(id, judged).error !== undefined);
    case 'other-count':
      return writtenBy(check.result, judged) !== check.count;
    case 'predicted': {
      const expected = judged.predicted(check.result);
      return isUndecidable(expected) ? expected : sameBag(rows(check.result), expected);
    }
    case 'that':
      return ownCheck(check, judged);
    default:
      return check satisfies never;
  }
}

function ownCheck(check: Extract<Check, { type: 'that' }>, judged: Judged): boolean | Undecidable {
  if (check.holds === undefined) return undecidable('the property’s own check needs the property’s file');
  const rows = check.results.map((id) => rowsOf(id, judged));
  try {
    return check.holds(...rows);
  } catch (thrown) {
    return undecidable(`the property’s own check threw: ${errorText(thrown)}`);
  }
}

function answerOf(id: ResultId, { seen }: Judged): ResultSeen {
  const answer = seen(id);
  if (answer === undefined) throw new Missing(`statement #${id} was not sent`);
  return answer;
}

function rowsOf(id: ResultId, judged: Judged): readonly Row[] {
  const { rows, error } = answerOf(id, judged);
  if (error !== undefined) throw new Missing(`statement #${id} failed`);
  if (rows === undefined) throw new Missing(`statement #${id} returned no rows`);
  return rows;
}

/** The rows a write matched or, where an engine tells only that, changed. */
function writtenBy(id: ResultId, judged: Judged): number {
  const { matched, changed, error } = answerOf(id, judged);
  if (error !== undefined) throw new Missing(`statement #${id} failed`);
  const count = matched ?? changed;
  if (count === undefined) throw new Missing(`the engine does not tell how many rows #${id} wrote`);
  return count;
}

function countOf(count: Count, judged: Judged): number {
  if (typeof count === 'number') return count;
  if ('sum' in count) return count.sum.reduce<number>((sum, each) => sum + countOf(each, judged), 0);
  if ('rows' in count) return rowsOf(count.rows, judged).length;
  return rowsOf(count.trues, judged).filter(([first]) => isTrue(first!)).length;
}

/** TRUE as engines return it: some have no booleans. */
function isTrue(value: Value): boolean {
  return value === true || (typeof value === 'number' && value !== 0);
}

export function keyOfRow(row: Row): string {
  return row.map(valueKey).join('\u0000');
}

/** Rows come in any order unless ORDER BY decides, so answers are bags. */
export function sameBag(left: readonly Row[], right: readonly Row[]): boolean {
  if (left.length !== right.length) return false;
  const counts = new Map<string, number>();
  for (const row of left) counts.set(keyOfRow(row), (counts.get(keyOfRow(row)) ?? 0) + 1);
  for (const row of right) {
    const left = counts.get(keyOfRow(row)) ?? 0;
    if (left === 0) return false;
    counts.set(keyOfRow(row), left - 1);
  }
  return true;
}
