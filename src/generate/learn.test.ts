import { describe, expect, it } from 'vitest';
import type { Operation } from '../histories/index.js';
import { type Capabilities, capabilitiesOf, findCapabilities, knownTargets } from './capabilities.js';
import { isFeature } from './features.js';
import { generateCase } from './generate-case.js';
import { learnFromHistory, learnFromSetup, learnFromStatements } from './learn.js';

const nothingDeclared = { ...findCapabilities('sqlite')!, unsupported: [] };

describe('learnFromStatements', () => {
  it('blames the only feature nobody has seen working', () => {
    const learned = learnFromStatements(nothingDeclared, {
      worked: ['SELECT rid FROM t WHERE rid = 1'],
      refused: ['SELECT rid FROM t WHERE rid = 1 FOR UPDATE'],
    });
    expect(learned.unsupported).toEqual(['lock.update']);
  });

  it('blames what the refused statements have in common', () => {
    const learned = learnFromStatements(nothingDeclared, {
      worked: ['SELECT rid FROM t'],
      refused: [
        'SELECT rid, SUM(c) OVER (PARTITION BY c ORDER BY rid) AS w FROM t',
        'SELECT rid, COUNT(c) OVER (ORDER BY rid) AS w FROM t',
        'SELECT rid, LAG(c) OVER (ORDER BY rid) AS w FROM t LIMIT 1',
      ],
    });
    expect(learned.unsupported).toEqual(['select.window']);
  });

  it('never gives up what was seen working, and takes back what was declared missing', () => {
    const declared = { ...nothingDeclared, unsupported: ['select.cte'] as const };
    const learned = learnFromStatements(declared, {
      worked: ['WITH w AS (SELECT rid FROM t) SELECT w.rid FROM w'],
      refused: ['WITH w AS (SELECT rid FROM t) SELECT w.rid FROM w'],
    });
    expect(learned.unsupported).toEqual([]);
    expect(learned.proven).toContain('select.cte');
  });

  it('survives being stored', () => {
    const learned = learnFromStatements(nothingDeclared, { worked: ['BEGIN'], refused: ['BEGIN IMMEDIATE'] });
    expect(JSON.parse(JSON.stringify(learned))).toEqual(learned);
    expect(learned.unsupported).toEqual(['begin.immediate']);
  });

  it('learns nothing from statements it cannot read', () => {
    expect(
      learnFromStatements(nothingDeclared, { worked: [], refused: ['FROBNICATE t'] }).unsupported,
    ).toEqual([]);
  });
});

describe('learnFromSetup', () => {
  it('finds the statement the message quotes', () => {
    const setup = [
      'CREATE TABLE t0 (rid INT)',
      'CREATE TABLE t1 (rid INT, c0 INT, c1 INT GENERATED ALWAYS AS (c0 + 1) STORED)',
    ];
    const learned = learnFromSetup(
      nothingDeclared,
      setup,
      `Set-up statement 2 fails: ${setup[1]}: no such thing`,
    );
    expect(learned.unsupported).toEqual(['column.generated']);
    expect(learnFromSetup(nothingDeclared, setup, 'disk full')).toEqual(nothingDeclared);
  });
});

describe('learnFromHistory', () => {
  const operation = (sql: string, error?: Operation['error']): Operation => ({
    index: 0,
    session: 0,
    transaction: 0,
    kind: 'other',
    sql,
    start: 0,
    end: 1,
    outcome: error === undefined ? 'ok' : 'error',
    ...(error === undefined ? {} : { error }),
  });

  it('keeps refused features out of later cases', () => {
    const refusal = { class: 'syntax', message: 'near "MERGE": syntax error' } as const;
    const merge = 'MERGE INTO t USING (SELECT 1 AS c) AS s ON t.c = s.c WHEN MATCHED THEN DELETE';
    const history = {
      header: { sessions: ['T1'], setup: ['CREATE TABLE t (rid INT, c INT)'] },
      operations: [operation('SELECT rid FROM (SELECT rid FROM t) AS s'), operation(merge, refusal)],
    };
    const learned = learnFromHistory(nothingDeclared, history);
    expect(learned.unsupported).toEqual(['statement.merge']);
    const texts = (capabilities: Capabilities) =>
      Array.from({ length: 30 }, (_, seed) =>
        JSON.stringify(generateCase(String(seed), { capabilities, profile: 'keys' })),
      ).join();
    expect(texts(nothingDeclared)).toContain('MERGE');
    expect(texts(learned)).not.toContain('MERGE');
  });

  it('learns nothing from conflicts and broken constraints', () => {
    const conflict = { class: 'serialization', message: 'conflict' } as const;
    const history = {
      header: { sessions: ['T1'] },
      operations: [operation('SELECT rid FROM t FOR UPDATE', conflict)],
    };
    expect(learnFromHistory(nothingDeclared, history).unsupported).toEqual([]);
  });
});

describe('capabilitiesOf', () => {
  it('knows every feature that a target declares as unsupported', () => {
    for (const name of knownTargets)
      expect(findCapabilities(name)!.unsupported.filter((feature) => !isFeature(feature))).toEqual([]);
  });

  it('gives an unknown engine what its dialect usually has', () => {
    // Not what PostgreSQL alone has: access methods, ways to give keys.
    const { indexes: _, automaticKeys: __, ...usual } = findCapabilities('postgres')!;
    expect(capabilitiesOf({ name: 'mydb', dialect: 'postgres' })).toEqual({ ...usual, target: 'mydb' });
  });
});
