/** What the tables hold before the first operation, by what their set-up says: right, or not known. */
import { describe, expect, it } from 'vitest';
import type { History, Operation } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
import { catalogOf, openCatalog } from './catalog.js';

const create = 'CREATE TABLE t (id INT PRIMARY KEY, v INT)';
const filled = [create, 'INSERT INTO t VALUES (1, 10), (2, 20)'];

function initial(setup: readonly string[], dialect: Dialect = 'postgres', table = 't') {
  return openCatalog({ dialect, setup, statements: [] }).find(table)?.initial;
}

describe('rows that the set-up makes', () => {
  it.each<[string, readonly string[], readonly (readonly unknown[])[]]>([
    ['none', [create], []],
    [
      'put in',
      filled,
      [
        [1, 10],
        [2, 20],
      ],
    ],
    [
      'put in twice',
      [...filled, 'INSERT INTO t VALUES (3, 30)'],
      [
        [1, 10],
        [2, 20],
        [3, 30],
      ],
    ],
    ['by name', [create, 'INSERT INTO t (v, id) VALUES (10, 1)'], [[1, 10]]],
    ['with what is left out', [create, 'INSERT INTO t (id) VALUES (1)'], [[1, null]]],
    [
      'changed',
      [...filled, 'UPDATE t SET v = v + 1 WHERE id = 2'],
      [
        [1, 10],
        [2, 21],
      ],
    ],
    ['deleted', [...filled, 'DELETE FROM t WHERE v > 10'], [[1, 10]]],
    ['all deleted', [...filled, 'DELETE FROM t'], []],
    [
      'copied',
      [...filled, 'INSERT INTO t SELECT id + 10, v FROM t'],
      [
        [1, 10],
        [2, 20],
        [11, 10],
        [12, 20],
      ],
    ],
    ['made anew', [...filled, 'DROP TABLE t', create], []],
    [
      'made once',
      [...filled, 'CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY, v INT)'],
      [
        [1, 10],
        [2, 20],
      ],
    ],
    [
      'with an index',
      [...filled, 'CREATE INDEX i ON t (v)'],
      [
        [1, 10],
        [2, 20],
      ],
    ],
    [
      'with settings',
      ['SET search_path = public', ...filled],
      [
        [1, 10],
        [2, 20],
      ],
    ],
    [
      'looked at',
      [...filled, 'SELECT * FROM t'],
      [
        [1, 10],
        [2, 20],
      ],
    ],
    [
      'in a transaction',
      ['BEGIN', ...filled, 'COMMIT'],
      [
        [1, 10],
        [2, 20],
      ],
    ],
    [
      'and another table',
      ['CREATE TABLE u (a INT)', ...filled, 'INSERT INTO u VALUES (7)'],
      [
        [1, 10],
        [2, 20],
      ],
    ],
  ])('%s', (_, setup, rows) => {
    expect(initial(setup)).toEqual(rows);
  });

  it.each<[string, readonly string[], Dialect?]>([
    ['come from elsewhere', [create, 'INSERT INTO t SELECT * FROM elsewhere']],
    ['may have met others', [...filled, 'INSERT INTO t VALUES (1, 5) ON CONFLICT DO NOTHING']],
    ['are replaced', [...filled, 'REPLACE INTO t VALUES (1, 5)'], 'mysql'],
    [
      'are merged',
      [
        ...filled,
        'MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 5',
      ],
    ],
    [
      'are changed from another table',
      [
        'CREATE TABLE u (id INT, w INT)',
        'INSERT INTO u VALUES (1, 7)',
        ...filled,
        'UPDATE t SET v = u.w FROM u WHERE u.id = t.id',
      ],
    ],
    [
      'are deleted by another table',
      [
        'CREATE TABLE u (id INT)',
        'INSERT INTO u VALUES (1)',
        ...filled,
        'DELETE FROM t USING u WHERE u.id = t.id',
      ],
    ],
    ['are some of those that match', [...filled, 'UPDATE t SET v = 0 LIMIT 1'], 'mysql'],
    ['are some of those that match a DELETE', [...filled, 'DELETE FROM t ORDER BY v LIMIT 1'], 'mysql'],
    ['are all gone', [...filled, 'TRUNCATE t']],
    ['get another column', [...filled, 'ALTER TABLE t ADD COLUMN w INT DEFAULT 5']],
    ['are loaded', [create, "COPY t FROM '/tmp/x'"]],
    ['are loaded in MySQL', [create, "LOAD DATA INFILE '/tmp/x' INTO TABLE t"], 'mysql'],
    ['are changed by a procedure', [...filled, 'CALL fill()']],
    ['are changed by a block', [...filled, 'DO $$ BEGIN UPDATE t SET v = 0; END $$']],
    [
      'are deleted inside a query',
      [...filled, 'WITH gone AS (DELETE FROM t RETURNING id) SELECT id FROM gone'],
    ],
    [
      'are changed inside a query',
      [...filled, 'WITH x AS (UPDATE t SET v = 0 RETURNING id) SELECT id FROM x'],
    ],
  ])('are not known where they %s', (_, setup, dialect) => {
    expect(initial(setup, dialect)).toBeUndefined();
  });
});

describe('rows that an observer read first', () => {
  const read = (more: Partial<Operation>): Operation => ({
    ...{ index: 0, session: 1, transaction: 0, kind: 'select', sql: 'SELECT * FROM t', start: 0, end: 5 },
    ...{ outcome: 'ok', columns: ['id', 'v'], rows: [[1, 7]], ends: 'commit' },
    ...more,
  });
  const later: Operation = {
    ...{
      index: 1,
      session: 0,
      transaction: 1,
      kind: 'update',
      sql: 'UPDATE t SET v = 0',
      start: 10,
      end: 15,
    },
    ...{ outcome: 'ok', matched: 1, ends: 'commit' },
  };
  function observed(more: Partial<Operation>, sessions = ['T1', 'observer']) {
    const history: History = {
      header: { sessions, dialect: 'postgres', setup: [create] },
      operations: [read(more), later],
    };
    return catalogOf(history).find('t')?.initial;
  }

  it('are what the table begins with', () => {
    expect(observed({})).toEqual([[1, 7]]);
    expect(observed({ sql: 'SELECT v, id FROM t', columns: ['v', 'id'], rows: [[7, 1]] })).toEqual([[1, 7]]);
    expect(observed({ sql: 'SELECT * FROM T' })).toEqual([[1, 7]]);
  });

  it.each<[string, Partial<Operation>, string[]?]>([
    ['not by an observer', {}, ['T1', 'T2']],
    ['not before the others began', { end: 12 }],
    ['not all of them', { sql: 'SELECT * FROM t WHERE v > 5' }],
    ['not more than some', { sql: 'SELECT * FROM t LIMIT 1' }],
    ['not each of them', { sql: 'SELECT DISTINCT id, v FROM t' }],
    ['not one table’s', { sql: 'SELECT t.id, t.v FROM t, u' }],
    ['not all columns', { sql: 'SELECT id FROM t', columns: ['id'], rows: [[1]] }],
    ['not as they are', { sql: 'SELECT id, v + 1 AS v FROM t' }],
    ['not with an answer', { outcome: 'unknown', end: null }],
  ])('do not count if they were %s', (_, more, sessions) => {
    expect(observed(more, sessions)).toEqual([]);
  });
});
