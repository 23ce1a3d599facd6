/** What statements of a report are, by their words. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { caseFeatures, flagsOfStatement, flagsOfTables, modeOf } from './case-features.js';
import { encode, type Features, type Flag, statementFlags } from './features.js';

describe('a statement', () => {
  it.each<[sql: string, flags: readonly Flag[]]>([
    ['BEGIN', ['begin']],
    ['begin isolation level serializable', ['begin']],
    ['START TRANSACTION', ['start-transaction']],
    ['START TRANSACTION WITH CONSISTENT SNAPSHOT', ['consistent-snapshot']],
    ['XA START "x"', ['start-transaction']],
    ['SET autocommit = 0', ['autocommit-off', 'set']],
    ['SET SESSION AUTOCOMMIT=OFF', ['autocommit-off', 'set']],
    ['SET autocommit = 1', ['set']],
    ['COMMIT', ['commit']],
    ['END', ['commit']],
    ['XA COMMIT "x"', ['commit']],
    ['ROLLBACK', ['rollback']],
    ['ROLLBACK TO s', ['savepoint']],
    ['ROLLBACK WORK TO SAVEPOINT s', ['savepoint']],
    ['RELEASE SAVEPOINT s', ['savepoint']],
    ['SAVEPOINT s', ['savepoint']],
    ['SELECT 1', ['select']],
    ['WITH c AS (SELECT 1) SELECT * FROM c', ['select']],
    ['SELECT * FROM t FOR UPDATE', ['select-for-update']],
    ['SELECT *\nFROM t\nFOR UPDATE', ['select-for-update']],
    ['SELECT * FROM t FOR NO KEY UPDATE', ['select-for-update']],
    ['SELECT * FROM t FOR SHARE', ['select-for-share']],
    ['SELECT * FROM t LOCK IN SHARE MODE', ['select-for-share']],
    ['TABLE t', ['select']],
    ['VALUES (1)', ['select']],
    ['INSERT INTO t VALUES (1)', ['insert']],
    ['REPLACE INTO t VALUES (1)', ['replace']],
    ['update t set a = 1', ['update']],
    ['DELETE FROM t', ['delete']],
    ['ALTER TABLE t ADD b INT', ['alter']],
    ['CREATE TABLE t (a INT)', ['create-or-drop']],
    ['DROP TABLE t', ['create-or-drop']],
    ['TRUNCATE t', ['create-or-drop']],
    ['CHECK TABLE t', ['check-table']],
    ['SHOW STATUS', ['show']],
    ['PRAGMA x', ['set']],
    ['COMMENT ON TABLE t IS NULL', ['comment-on']],
    ['RESET ALL', ['reset']],
    ['ANALYZE t', ['analyze']],
    ['ADMIN CHECK TABLE t', ['admin']],
    ['EXPLAIN SELECT 1', ['explain']],
    // Words that only begin alike.
    ['SELECTED', []],
    ['BEGINNING', []],
    ['the select', []],
    ['', []],
  ])('%s', (sql, flags) => {
    expect(flagsOfStatement(sql)).toEqual(flags);
  });

  it('of every kind of the study is recognised by some statement above', () => {
    const samples = [
      'BEGIN;START TRANSACTION;START TRANSACTION WITH CONSISTENT SNAPSHOT;SET autocommit=0;COMMIT;ROLLBACK;SELECT 1',
      'SELECT 1 FOR SHARE;SELECT 1 FOR UPDATE;INSERT INTO t;REPLACE INTO t;UPDATE t;DELETE FROM t;ALTER TABLE t;DROP TABLE t',
      'CHECK TABLE t;SHOW x;COMMENT ON x;RESET x;SAVEPOINT s;ANALYZE t;ADMIN x;EXPLAIN x',
    ];
    const seen = new Set(samples.join(';').split(';').flatMap(flagsOfStatement));
    expect([...statementFlags].filter((flag) => !seen.has(flag))).toEqual([]);
  });
});

describe('a table', () => {
  it.each<[sql: string, flags: readonly Flag[]]>([
    ['CREATE TABLE t (a INT)', []],
    ['CREATE TABLE t (a INT PRIMARY KEY)', ['key']],
    ['CREATE TABLE t (a INT UNIQUE)', ['key']],
    ['CREATE TABLE t (a INT, KEY k (a))', ['index']],
    ['CREATE INDEX i ON t (a)', ['index']],
    ['CREATE TABLE t (a INT NOT NULL)', ['constraint']],
    ['CREATE TABLE t (a INT REFERENCES u)', ['constraint']],
    ['CREATE TABLE t (a INT) PARTITION BY HASH (a)', ['partition']],
    ['CREATE TABLE t (a INT DEFAULT 1, PRIMARY KEY (a), INDEX i (a))', ['key', 'index', 'constraint']],
  ])('%s', (sql, flags) => {
    expect(flagsOfTables(sql)).toEqual(flags);
  });
});

describe('a case', () => {
  const features = (script: string, setting = {}) =>
    caseFeatures(parseScript(script, { file: 'x.sql' }).case, setting);

  it('has no kind of statement of its set-up, but what that says of tables', () => {
    const { has } = features(
      'CREATE TABLE t (a INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\nT1: SELECT a FROM t;',
    );
    expect(has).toEqual(['key', 'select']);
  });

  it('has what a session says of tables it creates or alters', () => {
    expect(features('T1: CREATE TABLE t (a INT NOT NULL);\nT1: SELECT 1;').has).toContain('constraint');
    expect(features("CREATE TABLE t (a INT);\nT1: SELECT 'NOT NULL';").has).not.toContain('constraint');
  });

  it('counts transactions, also those of single statements', () => {
    expect(
      features(
        'CREATE TABLE t (a INT);\nT1: BEGIN;\nT1: SELECT 1;\nT1: COMMIT;\nT1: SELECT 2;\nT2: SELECT 3;',
      ).transactions,
    ).toBe(3);
  });

  it('takes the level of the run only where the case has none', () => {
    const script = 'CREATE TABLE t (a INT);\nT1: SELECT 1;';
    expect(features(script, { level: 'serializable' }).levels).toEqual(['serializable']);
    expect(features(script).levels).toEqual([]);
  });

  it('is optimistic where a transaction says so, or where its engine is', () => {
    expect(features('CREATE TABLE t (a INT);\nT1: BEGIN OPTIMISTIC;\nT1: SELECT 1;').mode).toBe('optimistic');
    expect(modeOf('postgres')).toBe('pessimistic');
    expect(modeOf('tidb')).toBe('pessimistic');
    expect(modeOf(undefined)).toBe('unspecified');
    expect(modeOf('nobody')).toBe('unspecified');
  });
});

describe('the vector of a report', () => {
  const base: Features = { levels: [], mode: 'pessimistic', has: [] };

  it('has one component per thing named', () => {
    const vector = encode('mysql', {
      ...base,
      levels: ['serializable'],
      transactions: 2,
      has: ['begin', 'key'],
    });
    expect(Object.fromEntries(vector)).toEqual({
      'engine=mysql': 1,
      'mode=pessimistic': 1,
      'level=serializable': 1,
      transactions: 0.25,
      begin: 1,
      key: 1,
    });
  });

  it('says that no level is named, and nothing of transactions that nobody counted', () => {
    const vector = encode('x', base);
    expect(vector.get('level=any')).toBe(1);
    expect(vector.has('transactions')).toBe(false);
  });

  it('does not grow with a thousand transactions', () => {
    expect(encode('x', { ...base, transactions: 8 }).get('transactions')).toBe(1);
    expect(encode('x', { ...base, transactions: 1000 }).get('transactions')).toBe(1);
  });
});
