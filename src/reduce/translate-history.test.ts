import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { fakeTarget } from '../execute/fake-target.case.js';
import type { History, Operation } from '../histories/index.js';
import { openCatalog } from '../rows/index.js';
import type { Target } from '../targets/index.js';
import { withRowNames } from './row-names.js';
import { historyContract, translateHistory } from './translate-history.js';

const tidb = findContract('tidb:repeatable-read')!;
const plain = fakeTarget().target;

/** A target with the contract of MariaDB, or of another engine, at REPEATABLE READ. */
function target(name: string, more: Partial<Target> = {}): Target {
  return {
    ...plain,
    name,
    dialect: 'mysql',
    levels: [{ level: 'repeatable read', contract: 'mariadb:repeatable-read', begin: 'BEGIN' }],
    defaultLevel: 'repeatable read',
    features: { ...plain.features, snapshotBegin: 'START TRANSACTION WITH CONSISTENT SNAPSHOT' },
    ...more,
  };
}

const mariadb = target('mariadb');
const postgres = target('postgres', {
  dialect: 'postgres',
  levels: [{ level: 'repeatable read', contract: 'postgres:repeatable-read', begin: 'BEGIN' }],
  features: plain.features,
});

function history(statements: readonly (readonly [Operation['kind'], string])[], more: object = {}): History {
  return {
    header: {
      sessions: ['T1'],
      target: { name: 'tidb', version: '6' },
      dialect: 'mysql',
      level: 'repeatable read',
      setup: [
        'create table t (pkId int, a int, primary key(a) NONCLUSTERED)',
        'ALTER TABLE t ADD INDEX i (a)',
      ],
    },
    operations: statements.map(([kind, sql], index) => ({
      ...{ index, session: 0, transaction: 0, kind, sql, start: index, end: index, outcome: 'ok' as const },
      ...more,
    })),
  };
}

function sqlOf({ history: { operations } }: { readonly history: History }): (string | undefined)[] {
  return operations.map(({ sql }) => sql);
}

describe('a history translated for another engine', () => {
  it('takes its snapshots where they were taken, and only changes a plain BEGIN', () => {
    const told = history([
      ['begin', 'start transaction;'],
      ['begin', 'START TRANSACTION READ ONLY'],
      ['update', 'update `t` set a =  1'],
    ]);
    expect(sqlOf(translateHistory(told, tidb, mariadb))).toEqual([
      'START TRANSACTION WITH CONSISTENT SNAPSHOT',
      'START TRANSACTION READ ONLY',
      'update `t` set a =  1',
    ]);
  });

  it('loses the words of its definitions that only its own engine knows', () => {
    const { history: fit } = translateHistory(history([]), tidb, mariadb);
    expect(fit.header.setup).toEqual([
      'CREATE TABLE t (pkId INT, a INT, PRIMARY KEY (a))',
      'ALTER TABLE t ADD INDEX i (a)',
    ]);
  });

  it('is printed in the other dialect, and a snapshot point that cannot be had is told', () => {
    const told = history([
      ['begin', 'BEGIN'],
      ['update', 'UPDATE `t` SET `a` = "x"'],
    ]);
    const fit = translateHistory(told, tidb, postgres);
    expect(sqlOf(fit)).toEqual(['BEGIN', "UPDATE t SET a = 'x'"]);
    expect(fit.history.header.dialect).toBe('postgres');
    expect(fit.notes).toContain(
      'the snapshot is taken at another point (begin in the history, first-statement in postgres)',
    );
  });

  it('stays as it is on its own engine', () => {
    const told = history([['begin', 'BEGIN']]);
    expect(translateHistory(told, tidb, target('tidb'))).toEqual({ history: told, notes: [] });
  });

  it('is held to the promise of its own engine unless something else is asked for', () => {
    expect(historyContract(history([]), mariadb).id).toBe('tidb:repeatable-read');
    const { target: _, ...unnamed } = history([]).header;
    expect(historyContract({ header: unnamed, operations: [] }, mariadb).id).toBe('mariadb:repeatable-read');
  });

  it('returns the rows’ names where the trace tells accesses only, on its own engine too', () => {
    const told = history([['select', 'select a from t where a = 1 order by 1']], {
      accesses: [{ object: 't/1', mode: 'read' }],
    });
    for (const on of [mariadb, target('tidb')]) {
      const fit = translateHistory(told, tidb, on);
      expect(sqlOf(fit)).toEqual(['SELECT a, pkId FROM t WHERE a = 1 ORDER BY 1']);
      expect(fit.notes).toContain('reads also return pkId, by which the trace names rows');
    }
    const answered = history([['select', 'select a from t']], { accesses: [], rows: [[1]] });
    expect(sqlOf(translateHistory(answered, tidb, mariadb))).toEqual(['select a from t']);
  });
});

describe('rows’ names', () => {
  const catalog = openCatalog(
    {
      dialect: 'mysql',
      setup: ['CREATE TABLE t (pkId INT, a INT)', 'CREATE TABLE u (a INT)'],
      statements: [],
    },
    { identity: { t: 'pkId' } },
  );

  it('are added to a read that does not return them', () => {
    expect(withRowNames('SELECT a FROM t', catalog)).toBe('SELECT a, pkId FROM t');
  });

  it.each([
    'SELECT * FROM t',
    'SELECT pkid FROM t',
    'SELECT DISTINCT a FROM t',
    'SELECT COUNT(*) FROM t',
    'SELECT a FROM t GROUP BY a',
    'SELECT a FROM t JOIN u ON t.a = u.a',
    'SELECT a FROM t UNION SELECT a FROM t',
    'SELECT a FROM u',
    'DELETE FROM t',
  ])('are not added to %s', (sql) => {
    expect(withRowNames(sql, catalog)).toBe(sql);
  });
});
