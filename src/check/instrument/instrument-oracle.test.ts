import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import type { RunSetting } from '../oracle.js';
import { instrumentOracle } from './instrument-oracle.js';

const gone = 'DELETE FROM t WHERE id = 1';

/** Everything that is sent for a statement in a transaction. */
function sentTo(name: string, dialect: Dialect, statement = gone, contract = 'adya:PL-3'): string {
  const program = {
    name: 'delete',
    dialect,
    setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1)'],
    sessions: [{ name: 'T1', statements: ['BEGIN', statement, 'COMMIT'] }],
  };
  const asked = {
    target: { name, dialect },
    contract: findContract(contract)!,
  } as unknown as RunSetting;
  const prepared = instrumentOracle.prepare!({ case: program }, asked);
  return JSON.stringify(prepared.program);
}

it('asks for deleted rows only where the engine is declared to return them', () => {
  for (const name of ['mysql', 'tidb']) expect(sentTo(name, 'mysql'), name).not.toContain('RETURNING');
  for (const name of ['h2', 'hsqldb', 'derby'])
    expect(sentTo(name, 'postgres'), name).not.toContain('RETURNING');
  expect(sentTo('postgres', 'postgres')).toContain('RETURNING');
  // It has DELETE … RETURNING, and declares that UPDATE has none.
  expect(sentTo('mariadb', 'mysql')).toContain('RETURNING');
});

it('locks the rows of a DELETE only where there are such locks, and deletes everywhere', () => {
  expect(sentTo('h2', 'postgres')).toContain('FOR UPDATE');
  for (const name of ['hsqldb', 'derby']) {
    expect(sentTo(name, 'postgres'), name).not.toContain('FOR UPDATE');
    expect(sentTo(name, 'postgres'), name).toContain(`"BEGIN","${gone}","COMMIT"`);
  }
  // Its plain reads keep what they show: one of them names the rows.
  const named = sentTo('hsqldb', 'postgres', gone, 'hsqldb:serializable+locks');
  expect(named).toContain(`FROM t WHERE id = 1","${gone}"`);
  expect(named).not.toContain('FOR UPDATE');
});

it('makes names of rows, and lists of them, in the words of the engine', () => {
  const copy = 'INSERT INTO t SELECT DISTINCT id + 1, v FROM t';
  expect(sentTo('postgres', 'postgres', copy)).toContain('GEN_RANDOM_UUID()');
  expect(sentTo('hsqldb', 'postgres', copy)).toContain('CAST(UUID() AS VARCHAR(36))');
  expect(sentTo('derby', 'postgres', copy)).toContain('RANDOM()');
  for (const sql of [
    'SELECT v, COUNT(*) FROM t GROUP BY v',
    'SELECT DISTINCT v FROM t',
    'SELECT v FROM t UNION SELECT id FROM t',
    'SELECT v FROM t WHERE id = (SELECT MAX(id) FROM t)',
    'UPDATE t SET v = (SELECT MAX(id) FROM t)',
    copy,
  ]) {
    expect(sentTo('hsqldb', 'postgres', sql), sql).toMatch(/string_agg/i);
    expect(sentTo('derby', 'postgres', sql), sql).not.toMatch(/string_agg/i);
  }
});
