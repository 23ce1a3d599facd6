import { describe, expect, it } from 'vitest';
import { openTarget } from '../targets/index.js';
import { withPlanted } from '../targets/planted-target.case.js';
import { parseCounterexample, printCounterexample } from './counterexample-file.js';
import type { Interaction, Plan } from './interaction.js';
import { printPlan } from './interaction.js';
import { property } from './property.js';
import { replayCounterexample } from './replay.js';
import { runPlan } from './run-plan.js';
import { shippedProperties } from './shipped/index.js';
import { shrinkPlan } from './shrink.js';
import { stillHasToHold } from './still-holds.js';
import { shadowOf, testProperties } from './test-properties.js';

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
  const check = (anyState?: true): Interaction => ({
    ...{ type: 'assert', group: 7, says: 'p', check: { type: 'same', left: 0, right: 0 } },
    ...(anyState && { anyState }),
  });
  const one = (sql: string, anyState?: true) => planOf([statement(0, 7, sql), check(anyState)], [[7, 'p']]);
  const failure = { kind: 'assertion', identity: 'p', message: 'p', at: 1 } as const;
  const [long, short] = ['SELECT 1 UNION ALL SELECT 2', 'SELECT 1'];

  it('counts when the shadow state says that it has to hold, or when its group is as it was', () => {
    for (const anyState of [undefined, true] as const) {
      const [whole, changed] = [one(long, anyState), one(short, anyState)];
      const holds = (predicted: boolean, smaller: Plan) =>
        stillHasToHold({ ...failure, predicted }, smaller, whole, 'sqlite');
      expect(holds(false, whole)).toBe(true);
      expect(holds(false, changed)).toBe(false);
      expect(holds(true, changed)).toBe(true);
    }
    expect(stillHasToHold({ ...failure, kind: 'crash' }, one(short), one(long), 'sqlite')).toBe(true);
  });

  it('does not count without the statements of other groups that made its state', () => {
    const asserts: Interaction = {
      ...{ type: 'assert', group: 9, says: 'the pair is there' },
      check: { type: 'contains', result: 9, row: [1, 2] },
    };
    const all = [
      statement(0, 0, 'CREATE TABLE t (a INT)'),
      statement(1, 1, 'CREATE TABLE u (b INT)'),
      statement(2, 2, 'CREATE TABLE v (c INT)'),
      statement(3, 3, 'INSERT INTO v VALUES (2)'),
      statement(4, 4, 'INSERT INTO u SELECT c FROM v'),
      statement(5, 5, 'CREATE TABLE w (d INT)'),
      statement(6, 6, 'SELECT * FROM u'),
      statement(7, 9, 'INSERT INTO t VALUES (1)'),
      statement(9, 9, 'SELECT a, b FROM t, u WHERE a < b'),
      asserts,
      statement(10, 10, 'DELETE FROM u'),
    ];
    const whole = planOf(all, [[9, 'pqs join']]);
    const without = (...groups: number[]) => {
      const smaller = planOf(all.filter(({ group }) => !groups.includes(group)));
      const at = smaller.interactions.indexOf(asserts);
      return stillHasToHold({ ...failure, at, predicted: false }, smaller, whole, 'sqlite');
    };
    expect(without()).toBe(true);
    // Another table, a read, and what comes after it.
    expect(without(5, 6, 10)).toBe(true);
    for (const group of [0, 1, 2, 3, 4]) expect(without(group)).toBe(false);
  });

  it('is not blamed on the database after a statement it rests on was refused', {
    timeout: 60_000,
  }, async () => {
    const plan = planOf([
      statement(0, 0, 'CREATE TABLE t (a INT)'),
      statement(1, 1, 'INSERT INTO t SELECT 5 FROM missing'),
      statement(2, 2, 'SELECT a, RANDOM() IS NULL FROM t'),
      {
        ...{ type: 'assert', group: 2, says: 'the row is there' },
        check: { type: 'contains', result: 2, row: [5, 0] },
      },
    ]);
    const target = await openTarget('sqlite:');
    try {
      const place = { target, level: target.defaultLevel, shadow: shadowOf(target, target.defaultLevel) };
      const outcome = await runPlan(plan, { ...place, scratch: await target.createScratch() });
      expect(outcome).toMatchObject({ counts: { voided: 1, undecided: 1 }, mistaken: [] });
      expect(outcome.failure).toBeUndefined();
    } finally {
      await target.close();
    }
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
