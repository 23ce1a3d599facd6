/** The loop over plans, on databases in memory: what it believes, counts once, leaves out and learns. */
import { describe, expect, it } from 'vitest';
import { allFeatures } from '../generate/index.js';
import type { Answer, Target } from '../targets/index.js';
import { type MemoryOptions, memoryTarget, refusal, type Tamper } from './memory-target.case.js';
import { type Property, type PropertyNeeds, property } from './property.js';
import { type PropertyTestOptions, shadowOf, testProperties } from './test-properties.js';

/** A row that was inserted is there. */
const kept: Property = property('inserted rows stay', { sends: { write: 1, read: 1 } }, (action) => {
  const { db, pick, gen, run, assert, that } = action;
  const table = pick(db.tables);
  const row = gen.row(table);
  run(gen.insertOf(row));
  assert(that.contains(run(`SELECT * FROM ${table}`), row));
});

/** A property that adds a table of its own, so that a wrong answer can be given to it alone. */
const own = property(
  'own table',
  { sends: { create: 1, write: 1, read: 1 } },
  ({ gen, run, assert, that }) => {
    const name = gen.name('own');
    run(`CREATE TABLE ${name} (a INT)`);
    run(`INSERT INTO ${name} VALUES (7)`);
    const rows = run(`SELECT a FROM ${name}`);
    assert(that.contains(rows, [7]));
  },
);

async function test(memory: MemoryOptions, options: Partial<PropertyTestOptions> = {}) {
  const { target, sent } = memoryTarget(memory);
  const opened: Target[] = [];
  const open = async () => {
    opened.push(target);
    return target;
  };
  const result = await testProperties({
    ...{ open, properties: [own], seed: '10', plans: 4, length: 30, now: () => 0 },
    workload: { read: 1, write: 1, create: 1 },
    ...options,
  });
  return { result, sent, opened };
}

const empty: Answer = { transaction: 'none', rows: [] };
/** A query of the property's own table finds nothing. */
const forgets: Tamper = (sql) => (/^SELECT a FROM "?own/.test(sql) ? empty : undefined);

describe('on a database that is right', () => {
  it('every plan runs, and nothing is found', async () => {
    const { result } = await test({}, { properties: [kept, own] });
    expect(result).toMatchObject({ plans: 4, failures: [], unconfirmed: 0, mistaken: [], leftOut: [] });
    expect(result.counts.asserted).toBeGreaterThan(4);
  });

  it('the same seed sends the same statements, and another seed others', async () => {
    const [once, again, other] = [await test({}), await test({}), await test({}, { seed: '11' })];
    expect(again.sent).toEqual(once.sent);
    expect(other.sent).not.toEqual(once.sent);
  });

  it('tells of each plan as it goes, with sums that only grow', async () => {
    const told: number[][] = [];
    const onPlan: PropertyTestOptions['onPlan'] = ({ plans, counts }) =>
      told.push([plans, counts.statements]);
    const { result } = await test({}, { onPlan });
    expect(told.map(([plans]) => plans)).toEqual([1, 2, 3, 4]);
    expect(told.map(([, statements]) => statements)).toEqual(
      told.map(([, each]) => each).sort((a, b) => a! - b!),
    );
    expect(told.at(-1)![1]).toBe(result.counts.statements);
  });

  it.each([
    ['time', { forMs: 25, now: clock(10) }, 3],
    ['time, but for a first plan', { forMs: 0, now: clock(10) }, 1],
    ['a signal', { signal: AbortSignal.abort() }, 0],
  ] as const)('is ended by %s', async (_, options, plans) => {
    const { result } = await test({}, { plans: 9, ...options });
    expect(result.plans).toBe(plans);
  });

  it('closes what it opened', async () => {
    let closed = 0;
    const close = async () => {
      closed++;
    };
    await test({ over: { close } });
    expect(closed).toBe(1);
  });
});

/** Each look at the clock is so much later. */
function clock(step: number): () => number {
  let at = 0;
  return () => {
    at += step;
    return at;
  };
}

describe('a failure', () => {
  it('is confirmed, shrunk, and ends the loop', async () => {
    const { result } = await test({ tamper: forgets });
    const [found] = result.failures;
    expect(result.plans).toBe(1);
    expect(found).toMatchObject({
      ...{ seed: '10-0', seen: 1, minimal: true, level: 'serializable', target: { name: 'memory' } },
      failure: { kind: 'assertion', property: 'own table', identity: 'own table: contains' },
    });
    expect(found!.plan.interactions.length).toBeLessThan(found!.original.interactions.length);
    const left = found!.plan.interactions.flatMap((each) => (each.type === 'statement' ? [each.sql] : []));
    expect(left.map((sql) => sql.split(' ')[0])).toEqual(['CREATE', 'INSERT', 'SELECT']);
  });

  it('is reported once, and counted when it comes again', async () => {
    const { result } = await test({ tamper: forgets }, { failures: 2 });
    expect(result.plans).toBe(4);
    expect(result.failures.map(({ seen }) => seen)).toEqual([4]);
  });

  it('is left as it was generated where nobody wants it smaller', async () => {
    const { result } = await test({ tamper: forgets }, { shrink: false });
    expect(result.failures[0]).toMatchObject({ trials: 0, minimal: false });
    expect(result.failures[0]!.plan).toBe(result.failures[0]!.original);
  });

  it('that does not come back is counted, not believed', async () => {
    let first = true;
    const tamper: Tamper = (sql, honest, session) => {
      const answer = first ? forgets(sql, honest, session) : undefined;
      if (answer !== undefined) first = false;
      return answer;
    };
    const { result } = await test({ tamper }, { plans: 2 });
    expect(result).toMatchObject({ failures: [], unconfirmed: 1, plans: 2 });
  });

  it.each([
    [0, 1],
    [1, 0],
    [3, 0],
  ])('must come back %i times: seen once in all it is found %i times', async (confirm, failures) => {
    let left = 1;
    const tamper: Tamper = (sql, honest, session) =>
      forgets(sql, honest, session) !== undefined && left-- > 0 ? empty : undefined;
    const { result } = await test({ tamper }, { plans: 1, confirm, shrink: false });
    expect(result.failures).toHaveLength(failures);
  });

  it('of the database itself opens a new one', async () => {
    const tamper: Tamper = (sql) =>
      /^INSERT INTO "?own/.test(sql) ? refusal('crash', 'it died', 'lost') : undefined;
    const { result, opened } = await test({ tamper }, { shrink: false, confirm: 1 });
    expect(result.failures[0]!.failure).toMatchObject({ kind: 'crash', identity: 'crash: it died' });
    // At first, and after the first run, the one that confirmed it and the one that is kept.
    expect(opened).toHaveLength(4);
  });

  it('of a property that the shadow state contradicts is the property’s', async () => {
    const wrong = property('wrong', { sends: { create: 1, read: 1 } }, ({ gen, run, assert, that }) => {
      const name = gen.name('own');
      run(`CREATE TABLE ${name} (a INT)`);
      assert(that.contains(run(`SELECT a FROM ${name}`), [7]));
    });
    const { result } = await test({}, { properties: [wrong] });
    expect(result).toMatchObject({ failures: [], mistaken: ['wrong'] });
  });
});

describe('two runs of one plan', () => {
  it('must answer the same', async () => {
    let count = 0;
    const tamper: Tamper = (sql) =>
      /^SELECT a FROM "?own/.test(sql) ? { transaction: 'none', rows: [[7], [count++]] } : undefined;
    const { result } = await test({ tamper }, { twice: true, confirm: 0, shrink: false });
    expect(result.failures[0]!.failure).toMatchObject({ kind: 'difference', property: 'the same twice' });
  });

  it('must leave the same file', async () => {
    let count = 0;
    const digest = async () => `digest ${count++}`;
    const { result } = await test({ digest }, { twice: true, confirm: 1, shrink: false });
    expect(result.failures[0]!.failure).toMatchObject({
      ...{ kind: 'difference', identity: 'difference of content' },
      message: expect.stringMatching(
        /^"the file" gives digest \d, and on memory \(the second run\) digest \d$/,
      ),
    });
  });

  it('are the same where nothing differs, or where there is no file', async () => {
    const same = await test({ digest: async () => 'd' }, { twice: true });
    const none = await test({}, { twice: true });
    expect([same.result.failures, none.result.failures]).toEqual([[], []]);
  });
});

describe('a reference', () => {
  const named = (memory: MemoryOptions): (() => Promise<Target>) => {
    const { target } = memoryTarget({ ...memory, over: { name: 'other', ...memory.over } });
    return async () => target;
  };

  it('that answers otherwise is a difference, named by it', async () => {
    const reference = named({
      tamper: (sql) =>
        /^SELECT a FROM "?own/.test(sql) ? { transaction: 'none', rows: [[7], [8]] } : undefined,
    });
    const { result } = await test({}, { reference, shrink: false });
    expect(result.failures[0]!.failure).toMatchObject({ kind: 'difference', property: 'the same as other' });
  });

  it('that answers the same is none', async () => {
    const { result } = await test({}, { reference: named({}) });
    expect(result.failures).toEqual([]);
  });

  it('of another dialect is refused, and both are closed', async () => {
    const closed: string[] = [];
    const close = (name: string) => async () => {
      closed.push(name);
    };
    const reference = named({ over: { name: 'other', dialect: 'mysql', close: close('other') } });
    await expect(test({ over: { close: close('memory') } }, { reference })).rejects.toThrow(
      'other speaks mysql, memory sqlite: their answers cannot be compared',
    );
    expect(closed.sort()).toEqual(['memory', 'other']);
  });
});

describe('properties that do not fit', () => {
  const needing = (needs: PropertyNeeds) => property('needy', { needs }, () => undefined);

  it.each<[string, PropertyNeeds, MemoryOptions, string]>([
    ['snapshots', { snapshot: true }, {}, 'serializable promises no snapshot'],
    [
      'savepoints',
      { savepoints: true },
      { features: { savepoints: false } },
      'the database has no savepoints',
    ],
    ['sessions', { transactions: true }, { features: { maxSessions: 1 } }, 'the database has one session'],
    ['kills', { fault: 'kill' }, {}, 'the fault kill cannot be given here'],
    ['reopening', { fault: 'reopen' }, {}, 'the fault reopen cannot be given here'],
    [
      'cancelling',
      { fault: 'cancel' },
      { features: { cancel: false } },
      'the fault cancel cannot be given here',
    ],
    ['full disks', { fault: 'write-error' }, {}, 'the fault write-error cannot be given here'],
  ])('for want of %s are left out, and it is said why', async (_, needs, memory, why) => {
    const { result } = await test(memory, { properties: [needing(needs), own], plans: 1 });
    expect(result.leftOut).toEqual([{ property: 'needy', why }]);
  });

  it('are not left out where the database has what they need', async () => {
    const needs: PropertyNeeds[] = [
      ...[{ savepoints: true as const }, { transactions: true as const }],
      ...(['kill', 'reopen', 'cancel', 'write-error', 'reconnect', 'vacuum'] as const).map((fault) => ({
        fault,
      })),
    ];
    const nothing = async () => undefined;
    const memory = { over: { kill: nothing, limitWrites: nothing }, reopen: nothing };
    const { result } = await test(memory, { properties: [...needs.map(needing), own], plans: 1 });
    expect(result.leftOut).toEqual([]);
  });

  it('are an error if nothing is left', async () => {
    await expect(test({}, { properties: [needing({ fault: 'kill' })] })).rejects.toThrow(
      'no property can be tested on this database: needy: the fault kill cannot be given here',
    );
  });
});

describe('what the shadow state must know of a target', () => {
  it.each([
    ['postgres:read-committed', 'statement'],
    ['postgres:repeatable-read', 'first-statement'],
    ['mysql:repeatable-read', 'first-read'],
    ['sqlite:serializable+wal', 'first-statement'],
    // It may move its snapshot forward.
    ['cockroach:serializable', 'statement'],
    ['nobody:serializable', 'statement'],
  ] as const)('%s takes a snapshot at: %s', (contract, pivot) => {
    const { target } = memoryTarget({
      over: { levels: [{ level: 'serializable', contract, begin: 'BEGIN' }] },
    });
    expect(shadowOf(target, 'serializable').pivot).toBe(pivot);
  });

  it('is also whether DDL commits', () => {
    for (const transactionalDdl of [true, false])
      expect(
        shadowOf(memoryTarget({ features: { transactionalDdl } }).target, 'serializable').ddlCommits,
      ).toBe(!transactionalDdl);
  });
});

it('a feature that worked in an earlier build and is refused now is lost', async () => {
  const tamper: Tamper = (sql) => (sql.startsWith('UPDATE') ? refusal('unsupported') : undefined);
  const options = { proven: allFeatures, plans: 6 };
  const [now, before] = [await test({ tamper }, options), await test({}, options)];
  const lostIn = ({ result }: typeof now) => result.lost.map(({ feature }) => feature);
  expect(lostIn(now)).toContain('statement.update');
  expect(lostIn(before)).not.toContain('statement.update');
});
