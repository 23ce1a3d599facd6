/** Lines of reports: which session they name, what is typed behind a prompt, what is a statement and what a sentence. */
import { describe, expect, it } from 'vitest';
import { isNoise, isProse, isStatement, startsStatement, stripPrompt } from './report-noise.js';
import { isSessionName, leadingLabel, trailingLabel, unfoldColumns } from './session-label.js';

describe('a label before a statement', () => {
  it.each<[line: string, style: string, session: string, rest: string]>([
    ['/* t1 */ BEGIN', 'comment', 't1', 'BEGIN'],
    ['/*t1*/BEGIN', 'comment', 't1', 'BEGIN'],
    ['/* Session 2 */ SELECT 1', 'comment', 'session2', 'SELECT 1'],
    ['/* writer */ UPDATE t SET a = 1', 'comment', 'writer', 'UPDATE t SET a = 1'],
    ['(T1) BEGIN', 'bracket', 't1', 'BEGIN'],
    ['[conn_0]: BEGIN', 'bracket', 'conn0', 'BEGIN'],
    ['conn_0> BEGIN', 'prompt', 'conn0', 'BEGIN'],
    ['mysql con1> select 1;', 'prompt', 'con1', 'select 1;'],
    ['alice> SELECT 1', 'prompt', 'alice', 'SELECT 1'],
    ['T1: BEGIN', 'colon', 't1', 'BEGIN'],
    ['**Session A**: BEGIN', 'colon', 'sessionA', 'BEGIN'],
    ['-- tx 1: SELECT 1', 'colon', 'tx1', 'SELECT 1'],
    ['# Session 1', 'heading', 'session1', ''],
    ['-- in session 2', 'heading', 'session2', ''],
    ['Transaction 1 begins', 'heading', 'transaction1', ''],
    ['=== client B ===', 'heading', 'clientB', ''],
  ])('%s', (line, style, session, rest) => {
    expect(leadingLabel(line)).toEqual({ style, sessions: [session], rest, setup: false });
  });

  it.each([
    'c3 > 10',
    'mysql> SELECT 1',
    'SELECT t1.a FROM t1',
    't1', // a table as likely
    'Expected: 1',
    '/* remark */ and prose',
    'a sentence about session',
    '',
  ])('%j has none', (line) => {
    expect(leadingLabel(line)).toBeUndefined();
  });

  it('may be set-up, or several sessions', () => {
    expect(leadingLabel('/* init */ CREATE TABLE t (a INT)')).toMatchObject({ setup: true });
    expect(leadingLabel('[s1, s2] BEGIN')).toMatchObject({ sessions: ['s1', 's2'] });
  });

  it('spells one session in one way', () => {
    const spelt = ['Session 1:', 'session_1:', 'SESSION-1:', 'session#1:', 'Session1:'].map(
      (line) => leadingLabel(line)?.sessions[0],
    );
    expect(new Set(spelt)).toEqual(new Set(['session1']));
  });
});

describe('a label behind a statement', () => {
  it.each<[line: string, session: string, rest: string]>([
    ['BEGIN; -- t1', 't1', 'BEGIN; '],
    ['SELECT 1; # session 2', 'session2', 'SELECT 1; '],
    ['SELECT 1; -- in session 2, gets 1', 'session2', 'SELECT 1; '],
    ['SELECT 1; -- in another session', 'other', 'SELECT 1; '],
  ])('%s', (line, session, rest) => {
    expect(trailingLabel(line)).toMatchObject({ style: 'trailing', sessions: [session], rest });
  });

  it.each(['UPDATE t SET a = 1; -- t2 blocks', 'COMMIT; -- t2 released', 'SELECT 1', '-- t1'])(
    '%s has none',
    (line) => {
      expect(trailingLabel(line)).toBeUndefined();
    },
  );
});

it.each<[word: string, isName: boolean]>([
  ['T1', true],
  ['session 12', true],
  ['conn_0', true],
  ['client A', true],
  ['client Q', false],
  ['session', false],
  ['T', false],
  ['table1', false],
])('%s is a name of a session: %s', (word, isName) => {
  expect(isSessionName(word)).toBe(isName);
});

describe('columns', () => {
  it('become labelled lines', () => {
    expect(unfoldColumns(['| T1 | T2 |', '|----|----|', '| BEGIN | |', '| | SELECT 1 |'])).toEqual([
      't1: ----',
      't2: ----',
      't1: BEGIN',
      't2: SELECT 1',
    ]);
  });

  it('end at an empty line, and are not the head of a result', () => {
    expect(unfoldColumns(['| T1 | T2 |', '| BEGIN | |', '', 'a | b'])).toEqual(['t1: BEGIN', '', 'a | b']);
    expect(unfoldColumns(['+----+----+', '| t1 | t2 |', '+----+----+', '| 1 | 2 |'])).toEqual([
      '+----+----+',
      '| t1 | t2 |',
      '+----+----+',
      '| 1 | 2 |',
    ]);
  });
});

describe('a prompt', () => {
  it.each<[line: string, rest: string]>([
    ['mysql> SELECT 1;', 'SELECT 1;'],
    ['MariaDB [test]> SELECT 1;', 'SELECT 1;'],
    ['postgres=# SELECT 1;', 'SELECT 1;'],
    ['test=> SELECT 1;', 'SELECT 1;'],
    ['    -> FROM t'.trim(), 'FROM t'],
    ["'> rest", 'rest'],
  ])('%s', (line, rest) => {
    expect(stripPrompt(line)).toMatchObject({ rest, typed: true });
  });

  it('is none where a comparison or an arrow stands', () => {
    for (const line of ['a > 1', 'SELECT a->b', 'WHERE x >= 5']) expect(stripPrompt(line).typed).toBe(false);
  });
});

it.each([
  '+----+',
  '| 1 | 2 |',
  'Query OK, 1 row affected (0.00 sec)',
  'Empty set (0.00 sec)',
  '2 rows in set (0.00 sec)',
  '(1 row)',
  'ERROR 1213 (40001): Deadlock found',
  'ERROR:  could not serialize access',
  'INSERT 0 1',
  'UPDATE 3',
  '```sql',
  '$ mysql -u root',
])('%s is no SQL', (line) => {
  expect(isNoise(line)).toBe(true);
});

it.each(['INSERT INTO t VALUES (1)', 'UPDATE t SET a = 3', 'BEGIN', 'error_log', 'SELECT 1;'])(
  '%s may be SQL',
  (line) => {
    expect(isNoise(line)).toBe(false);
  },
);

describe('a statement', () => {
  it.each([
    'BEGIN',
    'begin work',
    'START TRANSACTION WITH CONSISTENT SNAPSHOT',
    'ROLLBACK TO SAVEPOINT s',
    'SELECT * FROM t',
    'select 1',
    '(SELECT a FROM t)',
    'WITH c AS (SELECT 1) SELECT * FROM c',
    'INSERT INTO t VALUES (1)',
    'replace into t select 1',
    'UPDATE t SET a = 1',
    'DELETE FROM t',
    'delete t1 from t1',
    'CREATE TABLE t (a INT)',
    'CREATE UNIQUE INDEX i ON t (a)',
    'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
    'SET autocommit = 0',
    'EXPLAIN SELECT 1',
  ])('%s is one', (sql) => {
    expect(isStatement(sql)).toBe(true);
    expect(startsStatement(sql)).toBe(true);
  });

  it.each([
    'update the row and wait',
    'select statement is blocked',
    'begin with this',
    'commit the transaction',
    'Delete all of them',
    'create table',
    'insert',
    // Not worth sending: a case has a namespace of its own.
    'CREATE DATABASE d',
    'SHOW TABLES',
    'DESCRIBE t',
  ])('%s is none', (sql) => {
    expect(isStatement(sql)).toBe(false);
  });

  it('is no sentence', () => {
    expect(isProse('this is what I have seen here')).toBe(true);
    expect(isProse('SELECT a, b, c, d FROM t')).toBe(false);
    expect(isProse('foo bar')).toBe(false);
  });
});
