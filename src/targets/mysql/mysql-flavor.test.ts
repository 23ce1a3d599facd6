import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { flavorOf } from './mysql-flavor.js';
import { heldCommits, lockWaits, type TidbTransaction } from './mysql-waiting.js';

const options = { level: 'repeatable read', statementTimeoutMs: 1500, lockTimeoutMs: 1200 } as const;

describe('engines behind the protocol', () => {
  it.each([
    ['10.11.19-MariaDB-0+deb12u1', 'mariadb'],
    ['5.7.25-TiDB-v7.5.0', 'tidb'],
    ['8.0.36', 'mysql'],
  ])('knows %s as %s', (version, name) => expect(flavorOf(version).name).toBe(name));

  it('chooses MariaDB’s contracts by innodb_snapshot_isolation', () => {
    const contracts = (value: string) =>
      flavorOf('MariaDB')
        .levels({ innodb_snapshot_isolation: value })
        .map(({ contract }) => contract);
    expect(contracts('OFF')).toContain('mariadb:repeatable-read');
    expect(contracts('ON')).toEqual([
      'mariadb:read-uncommitted',
      'mariadb:read-committed',
      'mariadb:repeatable-read+innodb_snapshot_isolation',
      'mariadb:serializable+innodb_snapshot_isolation',
    ]);
  });

  it('offers MyRocks’ two levels under its contracts, and none for engines without transactions', () => {
    const contracts = (engine: string) =>
      flavorOf('MariaDB')
        .levels({ default_storage_engine: engine })
        .map(({ contract }) => [contract, findContract(contract) !== undefined]);
    expect(contracts('ROCKSDB')).toEqual([
      ['mariadb:read-committed+rocksdb', true],
      ['mariadb:repeatable-read+rocksdb', true],
    ]);
    expect(contracts('Aria').map(([, known]) => known)).toEqual([false, false, false, false]);
    const [, , timeout] = flavorOf('MariaDB').sessionSetup(options, { default_storage_engine: 'ROCKSDB' });
    expect(timeout).toBe('SET SESSION rocksdb_lock_wait_timeout = 2');
  });

  it('rounds lock time-outs up to seconds and gives MariaDB its statement time-out', () => {
    const [level, variables] = flavorOf('MariaDB').sessionSetup(options, {});
    expect(level).toBe('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    expect(variables).toContain('innodb_lock_wait_timeout = 2');
    expect(variables).toContain('max_statement_time = 1.5');
  });

  it('runs TiDB’s snapshot level as optimistic transactions of REPEATABLE READ', () => {
    const tidb = flavorOf('TiDB');
    expect(tidb.levels({}).map(({ begin, contract }) => [begin, contract])).toEqual([
      ['BEGIN PESSIMISTIC', 'tidb:read-committed'],
      ['BEGIN PESSIMISTIC', 'tidb:repeatable-read'],
      ['BEGIN OPTIMISTIC', 'tidb:snapshot+optimistic'],
    ]);
    const [level, variables] = tidb.sessionSetup({ ...options, level: 'snapshot' }, {});
    expect(level).toMatch(/REPEATABLE READ$/);
    expect(variables).toContain("tidb_txn_mode = 'optimistic'");
  });
});

describe('InnoDB’s status text', () => {
  const entry = (head: string, thread: number, sql: string) =>
    `---TRANSACTION 24, ACTIVE 0 sec\n${head}2 lock struct(s)\nMariaDB thread id ${thread}, OS\n${sql}\n`;

  it('names the waiting connections of the current list, not those of the last deadlock', () => {
    const text =
      `LATEST DETECTED DEADLOCK\n${entry('LOCK WAIT ', 9, 'UPDATE t')}` +
      `LIST OF TRANSACTIONS FOR EACH SESSION:\n${entry('LOCK WAIT ', 6, 'UPDATE t')}${entry('', 5, '')}`;
    expect(lockWaits(text)).toEqual([6]);
  });

  it('is not fooled by the text of a statement', () => {
    const text = `LIST OF TRANSACTIONS FOR EACH SESSION:\n${entry('', 5, "SELECT '\nLOCK WAIT 2'")}`;
    expect(lockWaits(text)).toEqual([]);
  });
});

describe('TiDB’s commits that wait', () => {
  const transaction = (id: string, more: Partial<TidbTransaction>): TidbTransaction => ({
    id,
    session: Number(id),
    state: 'Idle',
    keys: 1,
    tables: ['84'],
    ...more,
  });
  const committing = transaction('1', { state: 'Committing' });

  it('are those beside an open transaction with locks in the same table', () => {
    const held = (other: Partial<TidbTransaction>) =>
      heldCommits([committing, transaction('2', other)]).length;
    expect(held({})).toBe(1);
    expect(held({ state: 'LockWaiting', tables: ['70', '84'] })).toBe(1);
    expect(held({ state: 'Committing' })).toBe(0);
    expect(held({ keys: 0 })).toBe(0);
    expect(held({ tables: ['85'] })).toBe(0);
  });

  it('are none where no table is named', () => {
    const unnamed = { tables: [''] };
    expect(heldCommits([{ ...committing, ...unnamed }, transaction('2', unnamed)])).toEqual([]);
  });
});
