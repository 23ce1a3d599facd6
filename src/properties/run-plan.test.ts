/** How a plan is run and judged, on a database in memory that answers as told. */
import { describe, expect, it } from 'vitest';
import type { FaultKind } from './fault-kinds.js';
import type { Check, Interaction, Plan } from './interaction.js';
import { type MemoryOptions, memoryTarget, refusal, type Tamper } from './memory-target.case.js';
import { firstWords, type PlanOutcome, predictedRows, runPlan, writeErrors } from './run-plan.js';
import { noTables } from './tables.js';

type Step =
  /** `SQL` of session 0, or `1: SQL`; `?SQL`: it may fail. */
  string | { readonly assert: Check; readonly anyState?: true } | { readonly assume: Check } | FaultStep;
type FaultStep = { readonly fault: FaultKind; readonly session?: number };

/** Groups of steps as a plan; statements are numbered from 1, properties are called `p1`, `p2`, … */
function planOf(...groups: readonly (readonly Step[])[]): Plan {
  let id = 0;
  const interactions = groups.flatMap((steps, i) =>
    steps.map((step): Interaction => {
      const group = i + 1;
      if (typeof step === 'string') {
        const [, session = '0', may, sql] = /^(?:(\d): )?(\?)?(.*)$/.exec(step)!;
        const more = may === undefined ? {} : { mayFail: true as const };
        return { type: 'statement', id: ++id, session: Number(session), sql: sql!, group, ...more };
      }
      if ('fault' in step) return { type: 'fault', fault: step.fault, session: step.session ?? 0, group };
      const says = 'it is so';
      if ('assume' in step) return { type: 'assume', check: step.assume, says, group };
      const any = step.anyState === true ? { anyState: true as const } : {};
      return { type: 'assert', check: step.assert, says, group, ...any };
    }),
  );
  return { seed: 's', interactions, properties: new Map(groups.map((_, i) => [i + 1, `p${i + 1}`])) };
}

async function run(
  plan: Plan,
  options: MemoryOptions & { readonly level?: 'read committed' | 'serializable' } = {},
): Promise<{ readonly outcome: PlanOutcome; readonly sent: readonly string[] }> {
  const { target, sent } = memoryTarget(options);
  const scratch = await target.createScratch();
  const outcome = await runPlan(plan, {
    ...{ target, scratch, level: options.level ?? 'serializable' },
    shadow: { pivot: 'statement', ddlCommits: false },
  });
  return { outcome, sent };
}

/** Answers statements of this form so, and all others honestly. */
const instead =
  (form: RegExp, answer: ReturnType<Tamper>): Tamper =>
  (sql) =>
    form.test(sql) ? answer : undefined;

const made = ['CREATE TABLE t (a INT, b INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'] as const;
const all = 'SELECT * FROM t';
const bothRows = [
  [1, 10],
  [2, 20],
];

describe('a plan on a database that is right', () => {
  it('finds nothing, and compares every table in the end', async () => {
    const plan = planOf(made, [all, { assert: { type: 'contains', result: 3, row: [2, 20] } }]);
    const { outcome, sent } = await run(plan);
    expect(outcome).toMatchObject({ mistaken: [], broken: false });
    expect(outcome.failure).toBeUndefined();
    expect(outcome.counts).toEqual({ statements: 3, asserted: 2, undecided: 0, voided: 0, faults: 0 });
    // The comparison has a session of its own, and all are closed.
    expect(sent.slice(-3)).toEqual([`1: ${all}`, '0: (closed)', '1: (closed)']);
  });

  it('does not hold open transactions against it: what is not committed is not there', async () => {
    const { outcome } = await run(planOf(made, ['BEGIN', 'DELETE FROM t']));
    expect(outcome.failure).toBeUndefined();
  });

  it.each([
    ['serializable', 'BEGIN IMMEDIATE'],
    ['read committed', 'BEGIN'],
  ] as const)('begins transactions at %s as the level needs it', async (level, begin) => {
    const { sent } = await run(planOf(['BEGIN', 'ROLLBACK']), { level });
    expect(sent[0]).toBe(`0: ${begin}`);
  });

  it('says that the property is mistaken where the shadow state contradicts it too', async () => {
    const plan = planOf(made, [all, { assert: { type: 'lacks', result: 3, row: [1, 10] } }]);
    const { outcome } = await run(plan);
    expect(outcome.mistaken).toEqual(['p2']);
    expect(outcome.failure).toBeUndefined();
  });

  it('goes on to the end after a group that is void', async () => {
    const plan = planOf(
      made,
      ['SELECT * FROM nothing', { assert: { type: 'fails', result: 1 } }],
      [all, { assert: { type: 'contains', result: 4, row: [1, 10] } }],
    );
    const { outcome } = await run(plan);
    expect(outcome.failure).toBeUndefined();
    expect(outcome.counts).toMatchObject({ statements: 4, voided: 1, asserted: 2 });
  });

  it('stops when it is told to, and concludes nothing from half a plan', async () => {
    const { target, sent } = memoryTarget();
    const controller = new AbortController();
    controller.abort();
    const place = { target, scratch: await target.createScratch(), level: 'serializable' as const };
    const shadow = { pivot: 'statement' as const, ddlCommits: false };
    const outcome = await runPlan(planOf(made), { ...place, shadow, signal: controller.signal });
    expect([outcome.sent, outcome.failure, sent]).toEqual([[], undefined, []]);
  });
});

describe('a failure', () => {
  const lost: Tamper = instead(/^SELECT/, { transaction: 'none', rows: [[1, 10]] });

  it('is an assertion that has to hold and does not', async () => {
    const plan = planOf(made, [all, { assert: { type: 'contains', result: 3, row: [2, 20] } }]);
    const { outcome } = await run(plan, { tamper: lost });
    expect(outcome.failure).toEqual({
      ...{ kind: 'assertion', property: 'p2', at: 3, predicted: true, identity: 'p2: contains' },
      message: 'p2: it does not hold that it is so',
    });
    expect(outcome.broken).toBe(false);
  });

  it('ends the run', async () => {
    const broken = { assert: { type: 'contains', result: 3, row: [2, 20] } } as const;
    const { outcome, sent } = await run(planOf(made, [all, broken], ['DELETE FROM t']), { tamper: lost });
    expect(outcome.failure?.property).toBe('p2');
    expect(sent.filter((line) => line.includes('DELETE'))).toEqual([]);
  });

  it('is data that is not there in the end, though nobody asked', async () => {
    const { outcome } = await run(planOf(made), { tamper: lost });
    expect(outcome.failure).toMatchObject({
      ...{ kind: 'lost-data', property: 'shadow state is the database' },
      message: 'in the end t does not hold what the statements wrote: the row [2,20] is missing',
    });
    expect(outcome.sent.at(-1)).toMatchObject({ interaction: -1, sql: all });
  });

  it('is data that should not be there in the end, once more than written', async () => {
    const tamper = instead(/^SELECT/, { transaction: 'none', rows: [...bothRows, [1, 10]] });
    const { outcome } = await run(planOf(made), { tamper });
    expect(outcome.failure?.message).toContain('the row [1,10] should not be there');
  });

  it('is a table that cannot be read in the end', async () => {
    const tamper = instead(/^SELECT/, refusal('other', 'malformed image\nof a disk'));
    const { outcome } = await run(planOf(made), { tamper });
    expect(outcome.failure).toMatchObject({ kind: 'lost-data' });
    expect(outcome.failure?.message).toMatch(/reading it fails: malformed image$/);
  });

  it.each(['crash', 'connection-lost'] as const)(
    'is a %s, and the database is not used again',
    async (kind) => {
      const tamper = instead(/^INSERT/, refusal(kind, 'assertion 17 failed\nat line 3', 'lost'));
      const { outcome, sent } = await run(planOf(made, [all]), { tamper });
      expect(outcome.broken).toBe(true);
      expect(outcome.failure).toMatchObject({
        ...{ kind: 'crash', property: 'p1', at: 1, identity: `${kind}: assertion … failed` },
        message: 'the database ended under "INSERT INTO t VALUES (1, 10), (2, 20)": assertion 17 failed',
      });
      expect(sent.filter((line) => line.includes('SELECT'))).toEqual([]);
    },
  );

  it('is a crash in the comparison', async () => {
    const tamper = instead(/^SELECT/, refusal('crash', 'dead', 'lost'));
    const { outcome } = await run(planOf(made), { tamper });
    expect(outcome).toMatchObject({ broken: true, failure: { kind: 'crash', identity: 'crash: dead' } });
  });
});

describe('an assertion after a group that was void', () => {
  /** The second group is refused; the third one fails an assertion that the shadow state cannot judge. */
  const plan = (anyState?: true) =>
    planOf(
      made,
      ['UPDATE t SET b = 0'],
      [`?${all}`, { assert: { type: 'works', result: 4 }, ...(anyState && { anyState }) }],
    );
  const tamper: Tamper = (sql, _, session) =>
    sql.startsWith('UPDATE') || (sql === all && session === 0) ? refusal('unsupported') : undefined;

  it('is undecided, for the tables are not those it was made for', async () => {
    const { outcome } = await run(plan(), { tamper });
    expect(outcome.failure).toBeUndefined();
    expect(outcome.counts).toMatchObject({ voided: 1, undecided: 1 });
  });

  it('is a failure all the same if it holds in any state', async () => {
    const { outcome } = await run(plan(true), { tamper });
    expect(outcome.failure).toMatchObject({ property: 'p3', predicted: false });
  });
});

describe('a statement that is refused', () => {
  it('makes the rest of its group void and rolls back what it left open', async () => {
    const plan = planOf(made, ['BEGIN', 'DELETE FROM t', 'SELECT * FROM nothing', 'COMMIT']);
    const { outcome, sent } = await run(plan);
    expect(outcome.failure).toBeUndefined();
    expect(sent.slice(4, 6)).toEqual(['0: SELECT * FROM nothing', '0: ROLLBACK']);
    expect(sent.filter((line) => line.includes('COMMIT'))).toEqual([]);
  });

  it('closes a session whose ROLLBACK fails in an open transaction', async () => {
    const tamper = instead(/^ROLLBACK/, refusal('other', 'no', 'open'));
    const { outcome, sent } = await run(planOf(made, ['BEGIN', 'SELECT * FROM nothing']), { tamper });
    expect(outcome.failure).toBeUndefined();
    expect(sent.slice(4, 6)).toEqual(['0: ROLLBACK', '0: (closed)']);
  });

  it('is an answer like others where it may fail', async () => {
    const plan = planOf(made, ['?SELECT * FROM nothing', { assert: { type: 'fails', result: 3 } }]);
    const { outcome } = await run(plan);
    expect(outcome.counts).toMatchObject({ voided: 0, asserted: 2 });
  });

  it('leaves nothing known if it ran into its time limit: it may have worked', async () => {
    // The DELETE is answered with a time-out and carried out nevertheless.
    const tamper: Tamper = (sql, honest) => {
      if (!sql.startsWith('DELETE')) return undefined;
      honest();
      return refusal('statement-timeout');
    };
    const { outcome } = await run(planOf(made, ['?DELETE FROM t WHERE a = 1']), { tamper });
    expect(outcome.failure).toBeUndefined();
    expect(outcome.counts.asserted).toBe(0);
  });

  it('ends the transaction where the answer says that none is open any more', async () => {
    // The victim of a deadlock: its DELETE is undone. This database says so and commits it later all the same.
    const tamper = instead(/^UPDATE/, refusal('deadlock'));
    const plan = planOf(made, ['BEGIN', 'DELETE FROM t WHERE a = 1', '?UPDATE t SET b = 0', '?COMMIT']);
    const { outcome } = await run(plan, { tamper });
    expect(outcome.failure?.message).toContain('the row [1,10] is missing');
  });
});

describe('an assumption', () => {
  it.each([
    ['that holds goes on', [1, 10], 4],
    ['that does not hold makes the rest void, and is no failure', [9, 90], 3],
  ] as const)('%s', async (_, row, statements) => {
    const plan = planOf(made, [all, { assume: { type: 'contains', result: 3, row } }, all]);
    const { outcome } = await run(plan);
    expect(outcome.failure).toBeUndefined();
    expect(outcome.counts).toMatchObject({ statements, voided: statements === 4 ? 0 : 1 });
  });
});

describe('a fault', () => {
  const inside = ['BEGIN', 'DELETE FROM t'] as const;

  it('reconnect ends one session’s transaction', async () => {
    const { outcome, sent } = await run(planOf(made, [...inside, { fault: 'reconnect' }, all]));
    expect(outcome.failure).toBeUndefined();
    expect(outcome.counts.faults).toBe(1);
    expect(sent.slice(4, 6)).toEqual(['0: (closed)', `1: ${all}`]);
  });

  it('reconnect-all ends every one', async () => {
    const { sent } = await run(planOf(made, ['1: SELECT 1', { fault: 'reconnect-all' }]));
    expect(sent.slice(3, 5)).toEqual(['0: (closed)', '1: (closed)']);
  });

  it('kill meets sessions in the middle of their transactions, and reopen finds them closed', async () => {
    for (const fault of ['kill', 'reopen'] as const) {
      const order: string[] = [];
      const mark = async () => {
        order.push(...sentBefore.filter((line) => line.includes('(closed)')));
        order.push(fault);
      };
      const { target, sent: sentBefore } = memoryTarget({ over: { kill: mark }, reopen: mark });
      const scratch = await target.createScratch();
      const place = { target, scratch, level: 'serializable' as const };
      const shadow = { pivot: 'statement' as const, ddlCommits: false };
      await runPlan(planOf(made, [...inside, { fault }]), { ...place, shadow });
      expect(order).toEqual(fault === 'kill' ? ['kill'] : ['0: (closed)', 'reopen']);
    }
  });

  it('that the database does not survive is a crash of that name', async () => {
    const kill = async () => {
      throw new Error('recovery of page 7 failed');
    };
    const { outcome } = await run(planOf(made, [{ fault: 'kill' }]), { over: { kill } });
    expect(outcome).toMatchObject({
      broken: true,
      failure: { kind: 'crash', property: 'p2', identity: 'kill failed: recovery of page … failed' },
    });
  });

  it('that cannot be given makes its group void', async () => {
    const { outcome } = await run(planOf(made, [{ fault: 'kill' }, 'DELETE FROM t']));
    expect(outcome.counts).toMatchObject({ faults: 1, voided: 1, statements: 2 });
  });

  it.each([
    ['refused', refusal('busy'), { voided: 1 }, undefined],
    ['fatal', refusal('crash', 'gone', 'lost'), { voided: 0 }, 'checkpoint failed: gone'],
  ] as const)('checkpoint that is %s', async (_, answer, counts, identity) => {
    const { outcome } = await run(planOf(made, [{ fault: 'checkpoint' }]), {
      tamper: instead(/^PRAGMA/, answer),
    });
    expect(outcome.counts).toMatchObject(counts);
    expect(outcome.failure?.identity).toBe(identity);
  });

  it('cancel strikes the next statement of its session, and no other', async () => {
    const plan = planOf(made, [{ fault: 'cancel', session: 1 }, all, `1: ${all}`, `1: ${all}`]);
    const { sent } = await run(plan);
    expect(sent.slice(2, 6)).toEqual([`0: ${all}`, `1: ${all}`, '1: (cancelled)', `1: ${all}`]);
  });

  describe('write-error', () => {
    /** What the limit was set to, in order; undefined: lifted. */
    const limited = async (answer: ReturnType<Tamper>) => {
      const limits: (number | undefined)[] = [];
      const limitWrites = async (beyond: number | undefined) => {
        limits.push(beyond);
      };
      const plan = planOf(made, [{ fault: 'write-error' }, '?DELETE FROM t', all]);
      const { outcome, sent } = await run(plan, {
        ...{ over: { limitWrites }, tamper: instead(/^DELETE/, answer) },
      });
      return { outcome, sent, limits };
    };

    it('cuts writes short for one statement, in the middle of a page', async () => {
      const { limits, outcome } = await limited(refusal('other', 'disk I/O error'));
      expect(limits).toHaveLength(2);
      expect([limits[0]! % 4096, limits[1]]).toEqual([2048, undefined]);
      expect(outcome.failure).toBeUndefined();
    });

    it('is no crash where the engine says that writing failed, though its session is gone', async () => {
      const { outcome, sent } = await limited(refusal('connection-lost', 'database or disk is full', 'lost'));
      expect([outcome.failure, outcome.broken]).toEqual([undefined, false]);
      expect(sent[3]).toBe('0: (closed)');
    });

    it('is a crash where the engine says anything else', async () => {
      const { outcome } = await limited(refusal('crash', 'segmentation fault', 'lost'));
      expect(outcome.failure?.identity).toBe('crash: segmentation fault');
    });
  });
});

describe('words of errors', () => {
  it.each([
    ['row 12 of "t" is missing', 'row … of … is missing'],
    ['no `x` in t7\nsecond line', 'no … in …'],
    ["bad 'a b' at 0x1", 'bad … at …x…'],
  ])('%j are %j in an identity', (message, words) => {
    expect(firstWords(message)).toBe(words);
  });

  it('are cut off, so that a dump of data is no identity', () => {
    expect(firstWords('x'.repeat(500))).toHaveLength(120);
  });

  it.each([
    ['disk I/O error', true],
    ['database or disk is full', true],
    ['No space left on device', true],
    ['File too large', true],
    ['the table is full of rows', false],
    ['input/output', false],
  ])('%j says that a write failed: %j', (message, says) => {
    expect(writeErrors.test(message)).toBe(says);
  });
});

it('predicts only queries that it can read, on tables it knows', () => {
  const rows = (sql: string) => predictedRows(sql, noTables, { dialect: 'sqlite', name: 'sqlite' });
  expect(rows('SELECT 1, NULL')).toEqual([[1, null]]);
  expect(rows('DELETE FROM t')).toEqual({ undecidable: 'not a query that can be read' });
  expect(rows('SELECT * FROM gone')).toHaveProperty('undecidable');
  expect(rows('SELECT random()')).toHaveProperty('undecidable');
});
