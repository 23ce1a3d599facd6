import { describe, expect, it } from 'vitest';
import type { Answer } from '../targets/index.js';
import { openTarget } from '../targets/index.js';
import { withPlanted } from '../targets/planted-target.case.js';
import { compareRuns } from './compare-runs.js';
import { shippedProperties } from './shipped/index.js';
import { testProperties } from './test-properties.js';

const sent = (...answers: readonly (readonly [sql: string, answer: Partial<Answer>])[]) => ({
  sent: answers.map(([sql, answer], interaction) => ({
    ...{ interaction, session: 0, sql },
    answer: { transaction: 'none' as const, ...answer },
  })),
});
const engines = { left: 'turso', right: 'sqlite', dialect: 'sqlite' } as const;
const failed = (kind: 'unsupported' | 'constraint') => ({ error: { class: kind, message: kind } });

describe('comparing two runs', () => {
  it('finds other rows and failures on one side, in any order of rows', () => {
    const rows = sent(['SELECT 1', { rows: [[1], [2]] }]);
    expect(compareRuns(rows, sent(['SELECT 1', { rows: [[2], [1]] }]), engines)).toBeUndefined();
    expect(compareRuns(rows, sent(['SELECT 1', { rows: [[2]] }]), engines)).toMatchObject({
      kind: 'rows',
      at: 0,
    });
    const [ok, no] = [sent(['DELETE FROM t', {}]), sent(['DELETE FROM t', failed('constraint')])];
    expect(compareRuns(ok, no, engines)).toMatchObject({ kind: 'failure' });
    expect(compareRuns(no, no, engines)).toBeUndefined();
  });

  it('takes a refusal for no answer, and after a refused write nothing is comparable', () => {
    const next = (rows: number[][]) => ['SELECT 1', { rows }] as const;
    const write = (answer: Partial<Answer>) => ['DELETE FROM t', answer] as const;
    const [a, b] = [sent(write({}), next([[1]])), sent(write(failed('unsupported')), next([[2]]))];
    expect(compareRuns(a, b, engines)).toBeUndefined();
    const query = (answer: Partial<Answer>) => ['SELECT 2', answer] as const;
    const [c, d] = [sent(query({ rows: [] }), next([[1]])), sent(query(failed('unsupported')), next([[2]]))];
    expect(compareRuns(c, d, engines)).toMatchObject({ at: 1 });
  });

  it('leaves documented differences and the last digits of sums out', () => {
    const family = { left: 'mysql', right: 'mariadb', dialect: 'mysql' } as const;
    const sql = 'SELECT 1 INTERSECT SELECT 2';
    expect(compareRuns(sent([sql, { rows: [] }]), sent([sql, { rows: [[1]] }]), family)).toBeUndefined();
    const [sum, other] = [sent(['SELECT 1', { rows: [[0.1 + 0.2]] }]), sent(['SELECT 1', { rows: [[0.3]] }])];
    expect(compareRuns(sum, other, engines)).toBeUndefined();
  });

  it('leaves out what MySQL refuses of its own tables, and nothing else that it refuses', () => {
    const family = { left: 'mysql', right: 'mariadb', dialect: 'mysql' } as const;
    const refused = { error: { class: 'other', message: 'You can’t specify target table' } } as const;
    const differs = (sql: string) => compareRuns(sent([sql, refused]), sent([sql, {}]), family) !== undefined;
    expect(differs('UPDATE t1 SET a = 1 WHERE EXISTS (SELECT 1 FROM t1 AS s)')).toBe(false);
    expect(differs('DELETE FROM `t1` WHERE a IN (SELECT a FROM `t1`)')).toBe(false);
    expect(differs('UPDATE t1 SET a = 1 WHERE EXISTS (SELECT 1 FROM t10 AS s)')).toBe(true);
    expect(differs('UPDATE t1 SET a = 1')).toBe(true);
  });

  it('takes a write that was made to fail for no answer', () => {
    const full = { error: { class: 'other', message: 'I/O error (pwritev): file too large' } } as const;
    const [a, b] = [sent(['COMMIT', full]), sent(['COMMIT', {}])];
    expect(compareRuns(a, b, engines)).toBeUndefined();
  });

  const all = { properties: shippedProperties, seed: 'd', plans: 6, length: 30, now: () => 0 };
  const sorted = shippedProperties.filter(({ name }) => name === 'shadow state');
  /** Every query without WHERE loses a row, so that no property but the comparison has to look. */
  const losing = async () =>
    withPlanted(await openTarget('sqlite:'), {
      execute: async (sql, send) => {
        const answer = await send(sql);
        return /count\(\*\)/i.test(sql) ? { ...answer, rows: [] } : answer;
      },
    });

  it('is part of a test: another engine, and the same one twice', { timeout: 120_000 }, async () => {
    const open = () => openTarget('sqlite:');
    expect((await testProperties({ ...all, open, reference: open, twice: true })).failures).toEqual([]);
    const { failures } = await testProperties({
      ...{ ...all, plans: 40, properties: sorted, judgeReads: false, shrink: false },
      ...{ open, reference: losing },
    });
    expect(failures[0]?.failure).toMatchObject({ kind: 'difference', property: 'the same as sqlite' });
  });

  it('refuses engines that speak different dialects', async () => {
    const open = () => openTarget('sqlite:');
    const reference = () => openTarget('duckdb:');
    await expect(testProperties({ ...all, open, reference })).rejects.toThrow('cannot be compared');
  });
});
