import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import { verifyMechanism } from './index.js';
import { story } from './story.case.js';

const kinds = (text: string, contract: string) =>
  verifyMechanism(story(text), findContract(contract)!).findings.map(({ kind }) => kind);

const second = (first: string) => `
  T1: BEGIN
  T1: ${first}
  T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
  T1: ROLLBACK
`;

it('an update to the same values holds no row where conflicts fail at once, and does where they wait', () => {
  const same = second('UPDATE t SET v = 10 WHERE id = 1 -> 1');
  expect(kinds(same, 'duckdb:snapshot')).toEqual([]);
  expect(kinds(second('UPDATE t SET v = v WHERE id = 1 -> 1'), 'duckdb:snapshot')).toEqual([]);
  expect(kinds(same, 'postgres:repeatable-read')).toEqual(['lock-violated']);
  expect(kinds(second('UPDATE t SET v = 11 WHERE id = 1 -> 1'), 'duckdb:snapshot')).toEqual([
    'lock-violated',
  ]);
  expect(kinds(second('DELETE FROM t WHERE id = 1 -> 1'), 'duckdb:snapshot')).toEqual(['lock-violated']);
});

it('such an update takes nothing back from what overtook it', () => {
  const overtaken = (first: string, other: string, seen: string) => `
    T1: BEGIN
    T1: ${first}
    T2: ${other}
    T1: COMMIT
    T1: SELECT id, v FROM t WHERE id = 1 -> ${seen}
  `;
  const quiet = 'UPDATE t SET v = 10 WHERE id = 1 -> 1';
  const update = 'UPDATE t SET v = 12 WHERE id = 1 -> 1';
  const remove = 'DELETE FROM t WHERE id = 1 -> 1';
  expect(kinds(overtaken(quiet, update, '1,12'), 'duckdb:snapshot')).toEqual([]);
  expect(kinds(overtaken(quiet, remove, 'nothing'), 'duckdb:snapshot')).toEqual([]);
  expect(kinds(overtaken(quiet, remove, '1,13'), 'duckdb:snapshot')).not.toEqual([]);
  const loud = 'UPDATE t SET v = 11 WHERE id = 1 -> 1';
  expect(kinds(overtaken(loud, remove, 'nothing'), 'duckdb:snapshot')).toContain('missing-row');
});

it('such an update hides nothing that was written beside it and committed before it', () => {
  const beside = (first: string, seen: string) => `
    [1,2] T1: BEGIN
    [1,2] T2: BEGIN
    [10,20] T1: ${first}
    [11,21] T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
    [22,30] T2: COMMIT
    [23,31] T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
    [32,40] T1: COMMIT
    [50,60] T3: SELECT id, v FROM t WHERE id = 1 -> ${seen}
  `;
  const quiet = 'UPDATE t SET v = 10 WHERE id = 1 -> 1';
  expect(kinds(beside(quiet, '1,12'), 'duckdb:snapshot')).toEqual([]);
  expect(kinds(beside(quiet, '1,13'), 'duckdb:snapshot')).not.toEqual([]);
  const loud = beside('UPDATE t SET v = 11 WHERE id = 1 -> 1', '1,12').replace('-> 1,10', '-> 1,11');
  expect(kinds(loud, 'duckdb:snapshot')).not.toEqual([]);
});

describe('where conflicts are found at COMMIT', () => {
  const tidb = 'tidb:snapshot+optimistic';
  const overtaken = (write: string, seen: string, other = 'UPDATE t SET v = 12 WHERE id = 1 -> 1') => `
    T1: BEGIN
    T2: ${other}
    T1: ${write}
    T1: COMMIT
    T3: SELECT id, v FROM t WHERE id = 1 -> ${seen}
  `;
  const mysql = (text: string, changed?: number) => {
    const history = story(text, { dialect: 'mysql' });
    const operations = history.operations.map((operation) =>
      changed !== undefined && operation.session === 0 && operation.kind === 'update'
        ? { ...operation, changed }
        : operation,
    );
    const { findings } = verifyMechanism({ ...history, operations }, findContract(tidb)!);
    return findings.map(({ kind }) => kind);
  };

  it.each([
    'UPDATE t SET v = 10 WHERE id = 1 -> 1',
    'UPDATE t SET v = v WHERE id = 1 -> 1',
    'INSERT INTO t VALUES (1, 0) ON DUPLICATE KEY UPDATE v = 10 -> 1',
    'REPLACE INTO t VALUES (1, 10) -> 1',
  ])('%s leaves nothing to commit, so it meets no conflict and hides nothing', (write) => {
    expect(mysql(overtaken(write, '1,12'))).toEqual([]);
    // The other transaction may also come second, before the commit.
    const later = overtaken(write, '1,12').replace(/(T2: .*)\n( +T1: .*)/, '$2\n$1');
    expect(later).not.toBe(overtaken(write, '1,12'));
    expect(mysql(later)).toEqual([]);
    expect(mysql(later.replace('-> 1,12', '-> 1,13'))).not.toEqual([]);
  });

  it('its own transaction goes on reading what it wrote, which its snapshot has', () => {
    const own = (seen: string) => `
      T1: BEGIN
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: UPDATE t SET v = 10 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t -> ${seen}
      T1: COMMIT`;
    expect(mysql(own('1,10 | 2,20'))).toEqual([]);
    expect(mysql(own('1,12 | 2,20'))).toEqual(['own-write-missed']);
  });

  it('a read without row names that misses it is told to have missed an own write', () => {
    const unnamed = `
      T1: BEGIN
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: UPDATE t SET v = 10 WHERE id = 1 -> 1
      T1: SELECT v FROM t -> 12 | 20
      T1: COMMIT`;
    expect(mysql(unnamed)).toEqual(['own-write-missed']);
    // Perhaps it wrote what was there already, but in any case it sees it.
    const whole = `
      [1000,1010] T1: BEGIN
      [1005,1015] T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      [1020,1025] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      [1030,1035] T1: SELECT SUM(v) AS s FROM t -> 30
      [1040,1045] T1: COMMIT`;
    expect(mysql(whole)).toEqual(['own-write-missed']);
    expect(mysql(whole.replace('-> 30', '-> 31'))).toEqual([]);
  });

  it('an import that records the values it wrote leaves such a row alone, too', () => {
    const recorded = (value: number, seen: string) => {
      const history = story(overtaken('UPDATE t SET v = ? WHERE id = 1 -> 1', seen), { dialect: 'mysql' });
      const operations = history.operations.map((each) =>
        each.sql?.includes('?') === true
          ? { ...each, accesses: [{ object: 't/1', mode: 'write' as const, value: { id: 1, v: value } }] }
          : each,
      );
      const { findings } = verifyMechanism({ ...history, operations } as History, findContract(tidb)!);
      return findings.map(({ kind }) => kind);
    };
    expect(recorded(10, '1,12')).toEqual([]);
    expect(recorded(13, '1,13')).toEqual(['update-of-changed-row']);
  });

  it('a row that is changed meets the conflict, also after an update that left it as it was', () => {
    const change = overtaken('UPDATE t SET v = 11 WHERE id = 1 -> 1', '1,11');
    expect(mysql(change)).toEqual(['update-of-changed-row']);
    expect(mysql(change, 1)).toEqual(['update-of-changed-row']);
    expect(mysql(overtaken('DELETE FROM t WHERE id = 1 -> 1', 'nothing'))).toEqual(['update-of-changed-row']);
    const both = `
      T1: BEGIN
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: UPDATE t SET v = 10 WHERE id = 1 -> 1
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: COMMIT`;
    expect(mysql(both)).toEqual(['update-of-changed-row']);
  });

  it('the count of changed rows decides where values do not', () => {
    const vague = overtaken("UPDATE t SET v = LENGTH(CONCAT('x', v)) WHERE id = 1 -> 1", '1,12');
    expect(mysql(vague, 0)).toEqual([]);
    expect(mysql(vague.replace('1,12', '1,3'), 1)).toEqual(['update-of-changed-row']);
  });

  it('nobody else sees what was left as it was', () => {
    const write = 'UPDATE t SET v = 10 WHERE id = 1 -> 1';
    expect(mysql(overtaken(write, '1,10'), 0)).toEqual(['stale-read']);
    expect(mysql(overtaken(write, '1,10'))).toEqual(['stale-read']);
    const beforeItEnds = overtaken(write, '1,10').replace(/( +T1: COMMIT)\n( +T3: .*)/, '$2\n$1');
    expect(mysql(beforeItEnds, 0)).toEqual(['stale-read']);
    expect(mysql(beforeItEnds.replace('-> 1,10', '-> 1,12'), 0)).toEqual([]);
  });

  it('what ROLLBACK TO takes back leaves the rest idle, and what follows it is written', () => {
    const undone = (last: string, seen: string) => `
      T1: BEGIN
      T1: UPDATE t SET v = 10 WHERE id = 1 -> 1
      T1: SAVEPOINT s
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: ROLLBACK TO s
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: ${last}
      T1: COMMIT
      T3: SELECT id, v FROM t WHERE id = 1 -> ${seen}`;
    const read = 'SELECT id, v FROM t WHERE id = 1 -> 1,10';
    expect(mysql(undone(read, '1,12'))).toEqual([]);
    expect(mysql(undone(read, '1,10'))).toEqual(['stale-read']);
    expect(mysql(undone('UPDATE t SET v = 13 WHERE id = 1 -> 1', '1,13'))).toEqual(['update-of-changed-row']);
  });
});

describe('after a statement outside of a transaction that changed nothing', () => {
  const contracts = ['tidb:repeatable-read', 'tidb:snapshot+optimistic', 'mariadb:repeatable-read+galera'];
  const idle = (text: string): History => {
    const history = story(text, { dialect: 'mysql' });
    const operations = history.operations.map((each) => (each.index === 0 ? { ...each, changed: 0 } : each));
    return { ...history, operations };
  };
  const found = (first: string, then: string, contract: string) => {
    const { findings } = verifyMechanism(
      idle(`T2: ${first}\n T1: BEGIN\n T1: ${then}`),
      findContract(contract)!,
    );
    return findings.map(({ kind }) => kind);
  };

  describe.each(contracts)('%s', (contract) => {
    it.each([
      'UPDATE t SET v = 10 WHERE id = 1 -> 1',
      'UPDATE t SET v = 10 WHERE id < 2 -> 1',
      'REPLACE INTO t VALUES (1, 10) -> 1',
      'INSERT INTO t VALUES (1, 0) ON DUPLICATE KEY UPDATE v = 10 -> 1',
    ])('%s: the row still has to be met', (first) => {
      expect(found(first, 'UPDATE t SET v = 5 WHERE id = 1 -> 0', contract)).toEqual(['write-missed-row']);
      expect(found(first, 'DELETE FROM t WHERE id = 1 -> 0', contract)).toEqual(['write-missed-row']);
      expect(found(first, 'SELECT id, v FROM t WHERE id = 1 FOR UPDATE -> nothing', contract)).toEqual([
        'missing-row',
      ]);
      expect(found(first, 'UPDATE t SET v = 5 WHERE id = 1 -> 1', contract)).toEqual([]);
      expect(found(first, 'SELECT id, v FROM t WHERE id = 1 FOR UPDATE -> 1,10', contract)).toEqual([]);
    });

    it.each(['REPLACE INTO t VALUES (1, 10)', 'INSERT INTO t VALUES (1, 10) ON DUPLICATE KEY UPDATE v = 10'])(
      '%s has not waited, whatever it counts as changed',
      (write) => {
        const { header, operations } = story(
          `[10,11] T1: BEGIN
        [12,15] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        [20,40] T1: COMMIT
        [30,45] T2: ${write} -> 1
        [60,65] T3: SELECT id, v FROM t -> 1,11 | 2,20`,
          { dialect: 'mysql' },
        );
        const counted = operations.map((each) => (each.index === 3 ? { ...each, changed: 1 } : each));
        const { findings } = verifyMechanism({ header, operations: counted }, findContract(contract)!);
        expect(findings).toEqual([]);
      },
    );

    it('keeps no version of it', () => {
      const many = (count: number) => {
        const lines = Array.from({ length: count }, () => 'T2: UPDATE t SET v = 10 WHERE id = 1 -> 1');
        return verifyMechanism(idle(lines.join('\n')), findContract(contract)!).checked.peakVersions;
      };
      expect(many(400)).toBe(many(100));
    });
  });

  it.each(contracts.slice(0, 2))('%s: leaves nobody unsure of rows that it may have met', (contract) => {
    const { header, operations } = story(
      `[10,11] T1: BEGIN
      [12,13] T1: UPDATE t SET v = 30 WHERE id = 1 -> 1
      [14,15] T4: BEGIN
      [16,17] T4: UPDATE t SET v = 30 WHERE id = 2 -> 1
      [20,40] T1: COMMIT
      [21,41] T4: COMMIT
      [25,42] T2: UPDATE t SET v = v WHERE v < 25 -> 1
      [60,65] T3: SELECT id, v FROM t -> 1,10 | 2,30`,
      { dialect: 'mysql' },
    );
    const counted = operations.map((each) => (each.index === 6 ? { ...each, changed: 0 } : each));
    const { findings } = verifyMechanism({ header, operations: counted }, findContract(contract)!);
    expect(findings.map(({ kind }) => kind)).toEqual(['stale-read']);
  });
});
