import { describe, expect, it } from 'vitest';
import { parseScript, scheduleProblem, transactionsOf } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import { buryCase } from './bury.js';
import { candidateOf } from './candidate.js';
import { chooseFinding, witnessOf } from './seen-finding.js';

const core = candidateOf(
  parseScript(
    `
CREATE TABLE t (a INT);
A: BEGIN;
B: UPDATE t SET a = 1;
A: SELECT a FROM t;
A: COMMIT;
B: SELECT a FROM t;`,
    { file: 'core.sql', dialect: 'postgres' },
  ),
);

describe.each([1, 2, 3, 4, 5])('a case buried by seed %i', (seed) => {
  const operations = 200;
  const buried = buryCase(core, { operations, sessions: 5, seed });
  const texts = buried.schedule.batches
    .flat()
    .map(([s, p]) => ({ s, sql: buried.case.sessions[s]!.statements[p]! }));
  const isNoise = (sql: string) => sql.includes('noise');

  it('can be run, and holds the case in its order among so many operations', () => {
    expect(scheduleProblem(buried.case, buried.schedule)).toBeUndefined();
    expect(texts.filter(({ sql }) => isNoise(sql))).toHaveLength(operations);
    const kept = texts.filter(({ sql }) => /\bt\b/.test(sql)).map(({ s, sql }) => `${s} ${sql}`);
    expect(kept).toEqual(['1 UPDATE t SET a = 1', '0 SELECT a FROM t', '1 SELECT a FROM t']);
  });

  it('does no irrelevant work inside a transaction of the case', () => {
    buried.case.sessions.forEach(({ statements }, s) => {
      for (const { first, last } of transactionsOf(buried.case, s)) {
        const inside = statements.slice(first, last + 1).filter((sql) => !/^(BEGIN|COMMIT)$/.test(sql));
        expect(new Set(inside.map(isNoise)).size).toBe(1);
      }
    });
  });

  it('does no work that could wait: every session has rows of its own', () => {
    for (const { s, sql } of texts.filter(({ sql: each }) => isNoise(each)))
      for (const row of sql.slice(sql.indexOf('rid')).match(/\d+/g) ?? [])
        expect(Math.floor(Number(row) / 10)).toBe(s);
  });

  it('is the same again', () => {
    expect(buryCase(core, { operations, sessions: 5, seed })).toEqual(buried);
  });
});

describe('a finding among several', () => {
  const finding = (...indexes: number[]) =>
    ({ operations: indexes.map((index) => ({ index })) }) as unknown as Finding;

  it.each<[string, Finding[], number]>([
    ['the one that is complete first', [finding(1, 9), finding(3, 5)], 1],
    ['the one with fewer operations, if both are at once', [finding(1, 2, 5), finding(3, 5)], 1],
    ['the first, if nothing tells them apart', [finding(1, 5), finding(3, 5)], 0],
  ])('is %s', (_, findings, chosen) => {
    expect(chooseFinding(findings)).toBe(findings[chosen]);
  });

  it('is none where there is none', () => {
    expect(chooseFinding([])).toBeUndefined();
  });

  const run = {
    header: { sessions: ['A', 'B'] },
    operations: [[0, 0], [1, 0], [0, 1], [0, 2], [1, 1], undefined].map((statement, i) => ({
      index: i + 100,
      ...(statement !== undefined && { statement }),
    })),
  } as unknown as History;

  it.each<[string, object, number[]]>([
    ['its operations', { operations: [{ index: 102 }, { index: 101 }] }, [0, 1]],
    ['its versions', { operations: [], versions: [{ operation: 104 }] }, [2]],
    [
      'its cycle',
      { operations: [], cycle: [{ fromOperation: 101, toOperation: 102 }, { toOperation: 101 }] },
      [0, 1],
    ],
    ['no BEGIN and COMMIT', { operations: [{ index: 100 }, { index: 103 }] }, []],
    ['nothing that is not in the case', { operations: [{ index: 105 }, { index: 999 }] }, []],
  ])('names %s', (_, more, ids) => {
    expect(witnessOf(more as unknown as Finding, run, core)).toEqual(ids);
  });
});
