import { describe, expect, it } from 'vitest';
import type { Finding } from '../../check/index.js';
import type { Operation } from '../../histories/index.js';
import { checkOf, markOf } from './findings.js';
import { ColumnsBuilder, type HistoryColumns } from './history-columns.js';
import { RowNames } from './named-rows.js';

/** Operation i of session i % 2 begins at 100 − i: later operations stand before earlier ones on the axis. */
function columns(count: number): HistoryColumns {
  const builder = new ColumnsBuilder(['A', 'B']);
  for (let i = 0; i < count; i++)
    builder.add({
      ...{ session: i % 2, transaction: i, start: 100 - i, end: 200, kind: 'select', flags: 0 },
      ...{ statement: '', result: '', objects: [] },
    });
  return builder.build({
    timed: true,
    transactionCount: count,
    transactionName: (tx) => `T${tx}`,
    notes: [],
  });
}

const finding = (more: object): Finding =>
  ({
    kind: 'G1c',
    rulesOut: ['serializable'],
    operations: [],
    transactions: [],
    explanation: [],
    ...more,
  }) as unknown as Finding;
const at = (...indexes: unknown[]) => ({ operations: indexes.map((index) => ({ index })) });

describe('a finding as a place to jump to', () => {
  it('begins with the operation that began first, whatever order it names them in', () => {
    expect(markOf(finding(at(0, 2, 1)), columns(3))).toMatchObject({
      operations: [2, 1, 0],
      place: 98,
      session: 0,
    });
  });

  it('names no operation that the history does not have', () => {
    const mark = markOf(finding(at(-1, 3, 0.5, '1', null, 1)), columns(3));
    expect(mark.operations).toEqual([1]);
  });

  it('without operations has no place', () => {
    const mark = markOf(finding({}), columns(3));
    expect('place' in mark || 'session' in mark).toBe(false);
  });

  it('names at most two hundred operations', () => {
    const all = Array.from({ length: 250 }, (_, i) => i);
    expect(markOf(finding(at(...all)), columns(250)).operations).toHaveLength(200);
  });

  it.each([
    [{ clause: 'no lost updates' }, 'no lost updates'],
    [{ rulesOut: ['serializable', 'snapshot'] }, 'not serializable, not snapshot'],
    [{ rulesOut: [] }, ''],
  ])('says what it breaks: %j', (more, clause) => {
    expect(markOf(finding(more), columns(1)).clause).toBe(clause);
  });
});

describe('what a check printed', () => {
  const line = (value: unknown) => JSON.stringify(value);

  it('is a failure if it says so', () => {
    expect(checkOf(line({ error: 'no such file' }), columns(1))).toEqual({
      state: 'failed',
      failure: 'no such file',
    });
  });

  it('are findings in the order of their places, those without one first', () => {
    const findings = [finding(at(0)), finding(at(2)), finding({})];
    const check = checkOf(line({ valid: false, findings }), columns(3));
    expect(check).toMatchObject({ state: 'done', valid: false, reasons: [], more: 0 });
    expect(check.state === 'done' && check.findings.map(({ place }) => place)).toEqual([undefined, 98, 100]);
  });

  it('keeps reasons for not knowing', () => {
    const check = checkOf(line({ valid: 'unknown', findings: [], unknownReasons: ['too long'] }), columns(1));
    expect(check).toMatchObject({ valid: 'unknown', reasons: ['too long'] });
  });

  it('says how many findings are left out', () => {
    const findings = Array.from({ length: 503 }, () => finding(at(0)));
    const check = checkOf(line({ valid: false, findings }), columns(1));
    expect(check.state === 'done' && [check.findings.length, check.more]).toEqual([500, 3]);
  });
});

describe('rows that a statement names', () => {
  const operation = (sql: string, more: Partial<Operation> = {}): Operation => {
    const kind = sql.split(' ')[0]!.toLowerCase() as 'select';
    return { index: 0, session: 0, transaction: 0, kind, sql, start: 0, end: 1, outcome: 'ok', ...more };
  };

  it.each<[string, string[]]>([
    ['SELECT * FROM t', ['t']],
    ['SELECT * FROM t WHERE id = 3', ['t', 't/3']],
    ["SELECT * FROM `t` WHERE rid IN (1, -2, 'x')", ['t', 't/1', 't/-2', 't/x']],
    ['UPDATE "my t" SET v = 3 WHERE "id" = 7', ['my t', 'my t/7']],
    ['INSERT INTO t VALUES (1, 10), (2, 20)', ['t', 't/1', 't/2']],
    ['SELECT * FROM t JOIN u ON t.a = u.a WHERE id = 1', ['t', 'u', 't/1']],
    ['SELECT * FROM t WHERE v > 3', ['t']],
    ['SELECT * FROM t WHERE paid = 3', ['t']],
    ['COMMIT', []],
  ])('%s: %j', (sql, names) => {
    expect(new RowNames().of(operation(sql))).toEqual(names);
  });

  it('are those of its answer too, where a column names them', () => {
    const rows = [
      [10, 1],
      [20, 2],
      [30, null],
    ];
    const answered = operation('SELECT v, Id FROM t', { columns: ['v', 'Id'], rows });
    expect(new RowNames().of(answered)).toEqual(['t', 't/1', 't/2']);
  });

  it('are what its recorder wrote down, before all', () => {
    const accesses = [{ mode: 'read', object: 'x/9' }] as unknown as NonNullable<Operation['accesses']>;
    expect(new RowNames().of(operation('SELECT * FROM t WHERE id = 1', { accesses }))).toEqual([
      'x/9',
      't',
      't/1',
    ]);
  });

  it('are not more than forty', () => {
    const rows = Array.from({ length: 1000 }, (_, id) => [id]);
    expect(new RowNames().of(operation('SELECT id FROM t', { columns: ['id'], rows }))).toHaveLength(40);
  });

  it('of a statement made to be slow are not looked for', () => {
    const slow = `SELECT * FROM t WHERE id IN (${"'".repeat(200_000)}`;
    expect(new RowNames().of(operation(slow))).toEqual(['t']);
  });

  it.each([
    [
      "SELECT * FROM t WHERE rid IN ('a', 'b')",
      "SELECT * FROM t WHERE rid IN ('c,d', 'e')",
      ['t', 't/c,d', 't/e'],
    ],
    [
      'SELECT * FROM t WHERE id IN (1, 2) AND id = 2',
      'SELECT * FROM t WHERE id IN (3, 4) AND id = 3',
      ['t', 't/3'],
    ],
    ["INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (2, 'b')", ['t', 't/2']],
    ['SELECT 1 FROM t WHERE v = 1 AND id = 2', 'SELECT 5 FROM t WHERE v = 6 AND id = 7', ['t', 't/7']],
  ])('are those of its own constants: %s before %s', (before, sql, expected) => {
    const names = new RowNames();
    names.of(operation(before));
    expect(names.of(operation(sql))).toEqual(expected);
    expect(names.of(operation(sql))).toEqual(expected);
  });

  it('are named by what identifies rows, where the set-up says it', () => {
    const setup = [
      'CREATE TABLE "Line" (id INT, "No" INT, item TEXT, PRIMARY KEY ("No", item))',
      `INSERT INTO "Line" VALUES (1, 1, 'a'), (1, 2, 'a')`,
    ];
    const names = new RowNames({ dialect: 'postgres', setup });
    expect(names.of(operation(`UPDATE "Line" SET id = 2 WHERE item = 'a' AND "No" IN (1, 2)`))).toEqual([
      'Line',
      'Line/1,a',
      'Line/2,a',
    ]);
    expect(names.of(operation('SELECT * FROM "Line" WHERE id = 1'))).toEqual(['Line']);
    const answered = { columns: ['item', 'No'], rows: [['b', 3]] };
    expect(names.of(operation('SELECT item, "No" FROM "Line"', answered))).toEqual(['Line', 'Line/3,b']);
    expect(names.of(operation(`INSERT INTO "Line" (item, "No") VALUES ('c', 4)`))).toEqual([
      'Line',
      'Line/4,c',
    ]);
  });
});
