import { describe, expect, it } from 'vitest';
import { findDeclaration } from './declarations.js';
import { openTarget } from './index.js';

const urlOf = (name: string, settings: Record<string, string>) =>
  findDeclaration(name)?.privateUrl?.(settings);

describe('the URL of a private server', () => {
  it.each([
    ['mariadb', {}, 'mariadb:'],
    // ON in some versions and OFF in others.
    ['mariadb', { innodb_snapshot_isolation: 'OFF' }, 'mariadb:?innodb_snapshot_isolation=OFF'],
    [
      'mariadb',
      { innodb_snapshot_isolation: 'ON', innodb_rollback_on_timeout: 'ON', innodb_autoinc_lock_mode: '1' },
      'mariadb:?innodb_snapshot_isolation=ON&innodb_rollback_on_timeout=ON',
    ],
    [
      'mariadb',
      { default_storage_engine: 'ROCKSDB', innodb_snapshot_isolation: 'OFF' },
      'mariadb:?engine=rocksdb',
    ],
    ['mysql', { innodb_autoinc_lock_mode: '2', innodb_rollback_on_timeout: 'OFF' }, 'mysql:'],
    ['tidb', { tidb_enable_1pc: 'OFF', tidb_enable_async_commit: 'ON' }, 'tidb:?tidb_enable_1pc=OFF'],
    ['postgres', { max_pred_locks_per_transaction: '64', deadlock_timeout: '1s' }, 'postgres:'],
    ['postgres', { max_pred_locks_per_transaction: '10' }, 'postgres:?max_pred_locks_per_transaction=10'],
    ['duckdb', { threads: '4', storage: 'memory' }, 'duckdb:?threads=4'],
    ['sqlite', { journal_mode: 'delete' }, 'sqlite:?journal=delete'],
    ['turso', { journal_mode: 'mvcc' }, 'turso:?mode=mvcc'],
    ['hsqldb', { 'hsqldb.tx': 'mvcc' }, 'hsqldb:?tx=mvcc'],
  ] as const)('%s with %o is %s', (name, settings, url) => {
    expect(urlOf(name, settings)).toBe(url);
  });

  it.each([
    ['mariadb', 'default_storage_engine', 'x&binary=/tmp/evil'],
    ['mariadb', 'innodb_snapshot_isolation', 'ON&binary=/tmp/evil'],
    ['hsqldb', 'hsqldb.tx', 'mvcc&driver=evil'],
    ['duckdb', 'threads', '1&package=evil'],
  ])('of %s takes no %s %s', (name, setting, value) => {
    expect(urlOf(name, { [setting]: value })).toBe(`${name}:`);
  });

  it.each(['duckdb:?threads=3', 'sqlite:?journal=delete', 'sqlite:'])(
    '%s leads back to itself',
    async (url) => {
      const target = await openTarget(url);
      await target.close();
      expect(urlOf(target.name, { ...target.stamp.settings })).toBe(url);
    },
  );
});
