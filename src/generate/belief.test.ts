import { describe, expect, it } from 'vitest';
import { type Dialect, parseExpressionText } from '../sql/index.js';
import { believe, believeValue } from './belief.js';
import { column } from './build.js';
import type { ColumnModel, TableModel } from './schema.js';
import { Shadow } from './shadow.js';
import { domainOf } from './values.js';

function model(name: string): TableModel {
  const columns = ['rid', 'a', 'b'].map(
    (each): ColumnModel => ({
      name: each,
      kind: 'int',
      role: each === 'rid' ? 'rid' : 'plain',
      nullable: true,
      domain: domainOf('int', false),
      arithmetic: true,
    }),
  );
  return { name, columns, key: [], indexes: [], parent: false };
}

/** t: (1, 10, NULL), (2, 20, 'x'), (3, 30, not known); u: empty. */
function shadow(): Shadow {
  const made = new Shadow([model('t'), model('u')]);
  const t = made.table('t')!;
  made.insert(t, 1, { a: 10, b: null });
  made.insert(t, 2, { a: 20, b: 'x' });
  made.insert(t, 3, { a: 30, b: undefined });
  made.keep();
  return made;
}

function parse(sql: string, dialect: Dialect = 'postgres') {
  const expression = parseExpressionText(sql, dialect);
  if (expression === undefined) throw new Error(`${sql} is no expression`);
  return expression;
}

function truth(sql: string, rid: number) {
  const made = shadow();
  const t = made.table('t')!;
  return believe(parse(sql), made.scope(t, t.row(rid)!));
}

describe('believe', () => {
  it.each([
    ['a = 10', true, false, false],
    ['a BETWEEN 10 AND 20', true, true, false],
    ['a NOT BETWEEN 10 AND 20', false, false, true],
    ['a IN (10, NULL)', true, null, null],
    ['b IS NULL', true, false, undefined],
    ["b = 'x'", null, true, undefined],
    ["b = 'x' OR a = 30", null, true, true],
    ["b = 'x' AND a = 10", null, false, false],
    ["NOT b = 'x'", null, false, undefined],
    ["b < 'y'", null, undefined, undefined],
    ["b LIKE '_'", null, true, undefined],
    ['a + 1 > 20', false, true, true],
    ['a % 3 = 1', true, false, false],
    ['CASE WHEN a > 15 THEN 1 ELSE 0 END = 1', false, true, true],
    ['EXISTS (SELECT 1 FROM u AS s WHERE s.a = t.a)', false, false, false],
    ['EXISTS (SELECT 1 FROM t AS s WHERE s.a = t.a + 10)', true, true, false],
    ['rid IN (SELECT s.rid FROM t AS s WHERE s.a >= 20)', false, true, true],
    ['a <= (SELECT MIN(s.a) FROM t AS s)', true, false, false],
    ['rid = (SELECT COUNT(*) FROM t AS s)', false, false, true],
    ['a < (SELECT MAX(s.a) FROM u AS s)', null, null, null],
    ["EXISTS (SELECT 1 FROM t AS s WHERE s.b = 'q')", undefined, undefined, undefined],
  ] as const)('%s', (sql, ...expected) => {
    expect([1, 2, 3].map((rid) => truth(sql, rid))).toEqual(expected);
  });
});

describe('Shadow', () => {
  it('updates from the old rows, and takes everything back', () => {
    const made = shadow();
    const t = made.table('t')!;
    const before = t.list();
    const mark = made.mark();
    made.update(t, parse('a >= (SELECT MAX(s.a) - 10 FROM t AS s)'), { a: parse('a + 5') });
    made.delete(t, parse('EXISTS (SELECT 1 FROM t AS s WHERE s.rid = 1)'));
    made.insert(t, 9, { a: 1 });
    expect(t.list().map(({ rid }) => rid)).toEqual([9]);
    made.undo(mark);
    expect(t.list().toSorted((x, y) => x.rid - y.rid)).toEqual(before);
  });

  it('doubts a row that an undecided DELETE may have taken', () => {
    const made = shadow();
    const t = made.table('t')!;
    made.delete(t, parse("b < 'y'"));
    expect(t.list().map(({ rid, sure }) => [rid, sure])).toEqual([
      [1, true],
      [2, false],
      [3, false],
    ]);
  });

  it('forgets a value that an undecided UPDATE may have changed', () => {
    const made = shadow();
    const t = made.table('t')!;
    made.update(t, parse("b < 'y'"), { a: parse('0') });
    const values = [1, 2].map((rid) => believeValue(column('a'), made.scope(t, t.row(rid)!)));
    expect(values).toEqual([10, undefined]);
  });
});
