import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { type History, kv, type Operation } from '../histories/index.js';
import type { Row } from '../sql/index.js';
import { check } from './check.js';
import type { Oracle } from './oracle.js';
import { findOracle, identityOf, oracleNamed, oracles, oraclesFor, registerOracle } from './registry.js';

const lost = 'T1@a[1-9]: rx[] ax1 | T2@b[1-9]: rx[] ax2 | T3@a[10-11]: rx[1,2]';

/** One read after a set-up of one row. */
function sql(text: string, rows: Row[], target = 'postgres'): History {
  const operation: Operation = {
    index: 0,
    session: 0,
    transaction: 0,
    kind: 'select',
    sql: text,
    start: 0,
    end: 1,
    outcome: 'ok',
    ends: 'commit',
    columns: ['rid', 'v'],
    rows,
  };
  const setup = ['CREATE TABLE t (rid INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'];
  return {
    header: {
      sessions: ['T1'],
      target: { name: target, version: '1' },
      level: 'repeatable read',
      dialect: 'postgres',
      setup,
    },
    operations: [operation],
  };
}

describe('check', () => {
  it('gives one shape for key-value and SQL histories', () => {
    const results = [check(kv(lost)), check(sql('SELECT rid, v FROM t', [[1, 9]]))];
    const always = [
      'valid',
      'oracle',
      'findings',
      'beyond',
      'strongest',
      'unknownReasons',
      'skipped',
      'notes',
    ];
    for (const result of results) {
      expect(Object.keys(result)).toEqual(expect.arrayContaining(always));
      expect(result.valid).toBe(false);
    }
    expect(results.map(({ oracle }) => oracle)).toEqual(['key-value', 'mechanism']);
  });

  it('takes a contract, its name, or a level', () => {
    const history = sql('SELECT rid, v FROM t', [[1, 10]], 'a database nobody knows');
    const contract = findContract('postgres:repeatable-read')!;
    expect(() => check(history)).toThrow('there is no contract');
    expect(check(history, contract)).toMatchObject({ valid: true, contract: contract.id });
    expect(check(history, contract.id)).toEqual(check(history, contract));
    expect(check(kv(lost), { level: 'read committed' })).toMatchObject({ valid: true });
    expect(check(kv(lost), 'adya')).toMatchObject({ valid: false });
    expect(check(kv(lost), 'read committed')).toEqual(check(kv(lost), { level: 'read committed' }));
    expect(check(kv(lost), 'serializable')).toMatchObject({ valid: false });
  });

  it('reads a history as it comes from a file', () => {
    expect(check({ kind: 'kv', format: 'jepsen', history: kv(lost) })).toEqual(check(kv(lost)));
  });

  it('is unknown, with reasons, where something was skipped and nothing found', () => {
    const { valid, unknownReasons, skipped } = check(sql('SELECT rid, random() FROM t', [[1, 0.5]]));
    expect(valid).toBe('unknown');
    expect(unknownReasons.length).toBeGreaterThan(0);
    expect(skipped).toHaveLength(unknownReasons.length);
  });
});

describe('the registry of oracles', () => {
  const example: Oracle = {
    ...oracleNamed('mechanism'),
    name: 'example',
    identity: () => 'always the same',
  };

  it('knows each oracle by a name of its own', () => {
    expect(new Set(oracles.map(({ name }) => name)).size).toBe(oracles.length);
    for (const oracle of oracles) expect(oracleNamed(oracle.name)).toBe(oracle);
    expect(() => oracleNamed('tarot')).toThrow(
      'there is no oracle "tarot"; there are server, constraints, mechanism',
    );
  });

  it('offers for a contract only oracles that can judge by it', () => {
    const names = (id: string) => oraclesFor(findContract(id)!).map(({ name }) => name);
    expect(names('postgres:repeatable-read')).toEqual(['mechanism', 'dependency-graph', 'statement']);
    expect(names('adya:PL-3')).toEqual(['dependency-graph']);
  });

  it('takes another oracle, whose findings are told apart its own way, and gives it up again', () => {
    const remove = registerOracle(example);
    try {
      expect(findOracle('example')).toBe(example);
      expect(() => registerOracle(example)).toThrow('already');
      const history = sql('SELECT rid, v FROM t', [[1, 9]]);
      const finding = check(history).findings[0]!;
      expect(identityOf({ ...finding, oracle: 'example' }, history)).toBe('always the same');
      expect(identityOf(finding, history)).not.toBe('always the same');
    } finally {
      remove();
    }
    expect(findOracle('example')).toBeUndefined();
  });
});
