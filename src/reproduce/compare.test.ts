import { describe, expect, it } from 'vitest';
import type { Operation } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
import { differenceOf, isStuck } from './compare.js';

const base: Operation = {
  ...{ index: 0, session: 0, transaction: 0, kind: 'select', sql: 'SELECT a FROM t', start: 1, end: 2 },
  outcome: 'ok',
};
const rows = (...list: (number | null)[][]): Partial<Operation> => ({ columns: ['a', 'b'], rows: list });
const error = (
  errorClass: NonNullable<Operation['error']>['class'],
  message: string = errorClass,
): Partial<Operation> => ({
  outcome: 'error',
  error: { class: errorClass, message },
});

function compare(raw: Partial<Operation>, again: Partial<Operation> | undefined, dialect: Dialect = 'mysql') {
  const replayed = again === undefined ? undefined : { ...base, ...again };
  return differenceOf({ ...base, ...raw }, replayed, dialect);
}

describe('an operation of a replay', () => {
  it.each<[string, Partial<Operation>, Partial<Operation>]>([
    ['saw the same rows', rows([1, 2]), rows([1, 2])],
    ['saw the same rows in another order', rows([1, 2], [3, 4]), rows([3, 4], [1, 2])],
    ['failed in the same class with another text', error('deadlock', 'x'), error('deadlock', 'y')],
    ['reports a count that the raw run does not know', {}, { matched: 3 }],
    ['reports no count though the raw run did', { matched: 3 }, {}],
    [
      'ended its transaction though nobody knows whether the raw one did',
      { ends: 'unknown' },
      { ends: 'commit' },
    ],
    ['took another time', { start: 1, end: 2 }, { start: 10, end: 20 }],
  ])('is equal if it %s', (_, raw, again) => {
    expect(compare(raw, again)).toBeUndefined();
  });

  it.each<[string, Partial<Operation>, Partial<Operation>, string, string, string]>([
    ['other values', rows([1, 2]), rows([1, 3]), 'rows', '(1, 2)', '(1, 3)'],
    ['a row fewer', rows([1, 2], [1, 2]), rows([1, 2]), 'rows', '(1, 2) (1, 2)', '(1, 2)'],
    ['NULL for a value', rows([1, null]), rows([1, 0]), 'rows', '(1, NULL)', '(1, 0)'],
    ['no row', rows([1, 2]), rows(), 'rows', '(1, 2)', 'no rows'],
    ['another count', { matched: 1 }, { matched: 2 }, 'counts', '1 row matched', '2 rows matched'],
    ['another change', { changed: 0 }, { changed: 1 }, 'counts', '0 rows changed', '1 row changed'],
    [
      'an error',
      { matched: 1 },
      error('serialization', 'could not\nserialize'),
      'error',
      '1 row',
      'serialization: could not',
    ],
    ['no error', error('serialization', 'x'), {}, 'error', 'serialization: x', 'ok'],
    ['another end', { ends: 'commit' }, { ends: 'rollback' }, 'ending', 'commit', 'rollback'],
    ['no end', { ends: 'commit' }, {}, 'ending', 'commit', 'goes on'],
    ['no answer', {}, { outcome: 'unknown', end: null }, 'not answered', 'ok', 'no answer'],
  ])('differs by %s', (_, raw, again, kind, was, is) => {
    expect(compare(raw, again)).toMatchObject({ kind, was, is });
  });

  it('differs if it was not sent', () => {
    expect(compare(rows([1, 2]), undefined)).toMatchObject({
      kind: 'not sent',
      was: '(1, 2)',
      is: 'not sent',
    });
  });

  it('keeps the order that ORDER BY asks for', () => {
    const sql = 'SELECT a FROM t ORDER\n BY a';
    const again = { ...rows([3, 4], [1, 2]), sql };
    expect(compare({ ...rows([1, 2], [3, 4]), sql }, again)).toMatchObject({ is: '(3, 4) (1, 2)' });
  });

  it('shows four rows at most', () => {
    const six = rows(...[1, 2, 3, 4, 5, 6].map((n) => [n, n]));
    expect(compare(six, rows())?.was).toBe('(1, 1) (2, 2) (3, 3) (4, 4) and 2 more');
  });

  it.each<[string, Partial<Operation>, RegExp]>([
    ['waited in vain', error('lock-timeout'), /cannot run like this/],
    ['fell to a deadlock', error('deadlock'), /the raw run did not have/],
    ['lost its connection', error('connection-lost'), /connection was lost/],
    ['waited', { ...rows([9, 9]), blocked: true }, /had to wait for another session/],
    ['saw something else', rows([9, 9]), /in another state/],
  ])('tells why, if it %s', (_, again, why) => {
    expect(compare(rows([1, 2]), again)?.why).toMatch(why);
  });
});

describe('a history with accesses for rows', () => {
  const read = (value: Record<string, number>) => ({ mode: 'read', object: 't/1', value }) as never;
  const raw: Partial<Operation> = { accesses: [read({ A: 1, b: 2 })] };

  it.each<[string, Partial<Operation>, boolean]>([
    ['the same cells', rows([1, 2]), true],
    ['another cell', rows([1, 3]), false],
    ['a column that the trace does not have', { columns: ['a', 'c'], rows: [[1, 99]] }, true],
    ['a row more', rows([1, 2], [1, 2]), false],
    ['rows without names', { rows: [[1, 3]] }, true],
  ])('is compared column by column: %s', (_, again, same) => {
    expect(compare(raw, again) === undefined).toBe(same);
  });

  it('tells columns of PostgreSQL apart that differ by case alone', () => {
    const both: Partial<Operation> = { accesses: [read({ A: 1, a: 2 })] };
    const columns = ['A', 'a'];
    expect(compare(both, { columns, rows: [[1, 2]] }, 'postgres')).toBeUndefined();
    expect(compare(both, { columns, rows: [[2, 2]] }, 'postgres')).toMatchObject({ kind: 'rows' });
  });

  it('and writes among them are not rows read', () => {
    const write = { mode: 'write', object: 't/1', value: { a: 5, b: 5 } } as never;
    expect(compare({ accesses: [read({ a: 1, b: 2 }), write] }, rows([1, 2]))).toBeUndefined();
  });
});

describe('a schedule that cannot run', () => {
  it.each([
    ['lock-timeout', true],
    ['statement-timeout', true],
    ['cancelled', true],
    ['deadlock', true],
    ['serialization', false],
    ['duplicate-key', false],
  ] as const)('shows by %s: %s', (errorClass, stuck) => {
    expect(isStuck({ ...base, ...error(errorClass) })).toBe(stuck);
  });

  it('does not show by an operation that succeeded after waiting', () => {
    expect(isStuck({ ...base, blocked: true })).toBe(false);
  });
});
