import { describe, expect, it } from 'vitest';
import { openTarget } from '../targets/index.js';
import { parseCounterexample, printCounterexample } from './counterexample-file.js';
import type { Interaction, Plan } from './interaction.js';
import { printPlan } from './interaction.js';
import { withPlanted } from './planted-target.case.js';
import { property } from './property.js';
import { replayCounterexample } from './replay.js';
import { shippedProperties } from './shipped/index.js';
import { shrinkPlan } from './shrink.js';
import { stillHasToHold, testProperties } from './test-properties.js';

const statement = (id: number, group: number, sql: string, more: object = {}): Interaction => ({
  ...{ type: 'statement', id, group, session: 0, sql },
  ...more,
});
const planOf = (interactions: readonly Interaction[], properties: [number, string][] = []): Plan => ({
  seed: 'x',
  interactions,
  properties: new Map(properties),
});

/** The failure shows when these statements are left, in any form that begins like this. */
const needs =
  (...texts: string[]) =>
  async ({ interactions }: Plan) =>
    texts.every((text) =>
      interactions.some((each) => each.type === 'statement' && each.sql.startsWith(text)),
    );

describe('shrinking', () => {
  it('does not depend on the order in which statements are removed (D4 §4)', async () => {
    const plan = planOf([
      statement(0, 0, 'CREATE TABLE t0 (c0 INT)'),
      statement(1, 1, 'CREATE TABLE t1 (c1 INT)'),
      statement(2, 2, 'SELECT * FROM t1'),
      statement(3, 3, 'INSERT INTO t0 VALUES (NULL)'),
    ]);
    // Without t1, reading it would be another failure.
    const reproduces = async ({ interactions }: Plan) => {
      const sqls = interactions.flatMap((each) => (each.type === 'statement' ? [each.sql] : []));
      const has = (start: string) => sqls.some((sql) => sql.startsWith(start));
      if (has('SELECT') && !has('CREATE TABLE t1')) return false;
      return has('CREATE TABLE t0') && has('INSERT INTO t0');
    };
    const { plan: small, minimal } = await shrinkPlan(plan, { dialect: 'sqlite', reproduces });
    expect(printPlan(small)).toBe(
      'CREATE TABLE t0 (c0 INT); -- session 0, #0\nINSERT INTO t0 VALUES (NULL); -- session 0, #3\n',
    );
    expect(minimal).toBe(true);
  });

  it('takes whole groups and optional statements, and no others out of a group', async () => {
    const plan = planOf(
      [
        statement(0, 0, 'CREATE TABLE t (a INT)'),
        statement(1, 1, 'INSERT INTO t VALUES (1)'),
        statement(2, 1, 'INSERT INTO t VALUES (2)', { optional: true }),
        statement(3, 1, 'SELECT * FROM t'),
        {
          ...{ type: 'assert', group: 1, says: 'it is there' },
          check: { type: 'contains', result: 3, row: [1] },
        } as Interaction,
        statement(4, 2, 'DELETE FROM t'),
      ],
      [[1, 'p']],
    );
    const { plan: small } = await shrinkPlan(plan, {
      dialect: 'sqlite',
      reproduces: needs('SELECT'),
      failedAt: 4,
    });
    expect(small.interactions.map((each) => each.type === 'statement' && each.id)).toEqual([1, 3, false]);
  });

  it('stops at the limit of trials with the best so far', async () => {
    const plan = planOf(Array.from({ length: 64 }, (_, i) => statement(i, i, `SELECT ${i}`)));
    const {
      trials,
      minimal,
      plan: small,
    } = await shrinkPlan(plan, {
      ...{ dialect: 'sqlite', trials: 5 },
      reproduces: needs('SELECT 63'),
    });
    expect([trials, minimal]).toEqual([5, false]);
    expect(small.interactions.length).toBeLessThan(64);
  });

  it('leaves a counterexample that replays from its file', { timeout: 60_000 }, async () => {
    const lost = async () =>
      withPlanted(await openTarget('sqlite:'), {
        execute: async (sql, send) =>
          /^DELETE/.test(sql) && sql.length > 60 ? { transaction: 'none' } : send(sql),
      });
    const { failures } = await testProperties({
      open: lost,
      properties: shippedProperties.filter(({ name }) => name === 'delete-select'),
      ...{ seed: 's', plans: 40, judgeReads: false, now: () => 0 },
    });
    const [found] = failures;
    expect(found!.plan.interactions.length).toBeLessThan(found!.original.interactions.length / 3);
    const { plan, level, failure } = found!;
    const text = printCounterexample({
      ...{ plan, level, dialect: 'sqlite', identity: failure.identity, message: failure.message },
    });
    const file = parseCounterexample(text, 'counterexample.json');
    expect(parseCounterexample(printCounterexample(file), 'again.json')).toEqual(file);
    expect(file.plan.interactions).toEqual(plan.interactions);
    expect(await replayCounterexample(file, lost, { runs: 2 })).toMatchObject({ shown: 2, runs: 2 });
    const sound = () => openTarget('sqlite:');
    expect(await replayCounterexample(file, sound, { runs: 1 })).toMatchObject({ shown: 0, others: 0 });
  });
});

describe('an assertion in a plan whose statements were changed', () => {
  const whole = planOf([statement(0, 7, 'SELECT 1 UNION ALL SELECT 2')], [[7, 'p']]);
  const failure = { kind: 'assertion', identity: 'p', message: 'p', at: 0 } as const;

  it('counts when the shadow state says that it has to hold, or when its group is as it was', () => {
    const changed = planOf([statement(0, 7, 'SELECT 1')], [[7, 'p']]);
    expect(stillHasToHold({ ...failure, predicted: false }, whole, whole)).toBe(true);
    expect(stillHasToHold({ ...failure, predicted: false }, changed, whole)).toBe(false);
    expect(stillHasToHold({ ...failure, predicted: true }, changed, whole)).toBe(true);
    expect(stillHasToHold({ ...failure, kind: 'crash' }, changed, whole)).toBe(true);
  });
});

describe('a property whose assertion is wrong', () => {
  it('is told so, and the database is not blamed', { timeout: 60_000 }, async () => {
    const wrong = property('wrong', ({ db, pick, run, assert, that }) => {
      const t = pick(db.tables);
      assert(that.equal(that.rows(run(`SELECT * FROM ${t}`)), 1000));
    });
    const { failures, mistaken } = await testProperties({
      open: () => openTarget('sqlite:'),
      ...{ properties: [wrong], seed: '1', plans: 2, now: () => 0 },
    });
    expect(failures).toEqual([]);
    expect(mistaken).toEqual(['wrong']);
  });
});
