import { describe, expect, it } from 'vitest';
import { contractForTables, enginesOf, noContractFor } from './storage-engine.js';
import { contractFor, findContract } from './table.js';

const innodb = findContract('mariadb:repeatable-read')!;
const reported = findContract('mariadb:repeatable-read+reported')!;
const idOf = (contract: typeof innodb, setup: string[], settings = {}) => {
  const found = contractForTables(contract, setup, settings);
  return 'contract' in found ? found.contract.id : found.unjudged;
};

describe('the storage engines of a set-up', () => {
  it.each([
    ['CREATE TABLE t (id INT)', ['innodb']],
    ['CREATE TABLE t (id INT) ENGINE=RocksDB', ['rocksdb']],
    ["CREATE TABLE t (id INT) COMMENT='engine=Aria' engine 'MyISAM'", ['myisam']],
    ['CREATE TABLE engine (engine INT, i INT)', ['innodb']],
    ['create temporary table if not exists t (a int) engine = aria', ['aria']],
    ['ALTER TABLE t ENGINE=MEMORY', ['memory']],
    ['ALTER TABLE t ADD c INT', []],
    ["INSERT INTO t VALUES ('CREATE TABLE t (a) ENGINE=Aria')", []],
  ] as const)('%s', (sql, engines) => {
    expect(enginesOf([sql], 'InnoDB')).toEqual(engines);
  });
});

describe('the contract of tables', () => {
  it('is that of their engine, whatever the server’s default is', () => {
    expect(idOf(innodb, ['CREATE TABLE t (id INT)'])).toBe('mariadb:repeatable-read');
    expect(idOf(innodb, ['CREATE TABLE t (id INT) ENGINE=RocksDB'])).toBe('mariadb:repeatable-read+rocksdb');
    expect(idOf(reported, ['CREATE TABLE t (id INT) ENGINE=RocksDB'])).toBe(
      'mariadb:repeatable-read+rocksdb',
    );
    const rocksdb = { default_storage_engine: 'ROCKSDB' };
    expect(idOf(findContract('mariadb:repeatable-read+rocksdb')!, ['CREATE TABLE t (id INT)'], rocksdb)).toBe(
      'mariadb:repeatable-read+rocksdb',
    );
    expect(
      idOf(
        findContract('mariadb:read-committed+rocksdb')!,
        ['CREATE TABLE t (i INT) ENGINE=innodb'],
        rocksdb,
      ),
    ).toBe('mariadb:read-committed');
  });

  it('is none for engines without transactions, levels an engine lacks, and several engines at once', () => {
    expect(idOf(innodb, ['CREATE TABLE t (id INT) ENGINE=MyISAM'])).toMatch(/no contract .* myisam/);
    const serializable = findContract('mariadb:serializable')!;
    expect(idOf(serializable, ['CREATE TABLE t (id INT) ENGINE=RocksDB'])).toMatch(/no contract .* rocksdb/);
    const mixed = ['CREATE TABLE t (id INT)', 'CREATE TABLE u (id INT) ENGINE=Aria'];
    expect(idOf(innodb, mixed)).toMatch(/several storage engines \(innodb, aria\)/);
  });

  it('is looked up by the default engine, too', () => {
    const at = (engine: string) =>
      contractFor('mariadb', 'repeatable read', { default_storage_engine: engine })?.id;
    expect(at('InnoDB')).toBe('mariadb:repeatable-read');
    expect(at('ROCKSDB')).toBe('mariadb:repeatable-read+rocksdb');
    expect(at('Aria')).toBeUndefined();
  });

  it('names the engine where there is none', () => {
    const at = (engine: string) =>
      noContractFor('mariadb', 'serializable', { default_storage_engine: engine });
    expect(at('Aria')).toMatch(
      /no contract says what mariadb promises at serializable for tables of Aria: .*no transactions/,
    );
    expect(at('ROCKSDB')).toBe(
      'no contract says what mariadb promises at serializable for tables of ROCKSDB',
    );
    expect(noContractFor('x', 'snapshot')).toBe('no contract is known for x at snapshot');
  });

  it('leaves theory and other vendors alone', () => {
    for (const id of ['adya:PL-3', 'postgres:serializable'])
      expect(idOf(findContract(id)!, ['CREATE TABLE t (id INT) ENGINE=Aria'])).toBe(id);
  });
});
