/** The wrapper keeps every promise of a target, and takes the less common ways of its faults. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, rowsOf } from '../conformance/lab.case.js';
import { describeConformance } from '../conformance.case.js';
import { duckdbDriver } from '../duckdb/index.js';
import { postgresAvailable, postgresDriver } from '../postgres/index.js';
import { sqliteDriver } from '../sqlite/index.js';
import type { Scratch, Session, Target, TargetOpener } from '../target.js';
import { parseFault } from './fault-spec.js';
import { withFault } from './faulty-target.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

// Those that keep auxiliary connections and transactions of their own have the most to get wrong.
for (const fault of ['weaker-level', 'stale-snapshot', 'missed-own-write', 'visible-committed-delete']) {
  describe(`DuckDB with ${fault} that never strikes`, () => {
    describeConformance({
      open: async () =>
        withFault(await duckdbDriver.open('duckdb:', {}), parseFault(`${fault}(nth=1000000)`)),
      available: () => undefined,
    });
  });
}
for (const fault of ['weaker-level', 'stale-snapshot']) {
  describe(`PostgreSQL with ${fault} that never strikes`, () => {
    describeConformance({
      open: async () =>
        withFault(await postgresDriver.open('postgres:', {}), parseFault(`${fault}(nth=1000000)`)),
      available: postgresAvailable,
    });
  });
}

describe('a fault that an engine has nothing for', () => {
  it('is refused with the reason', async () => {
    const target = await sqliteDriver.open('sqlite:?journal=delete', {});
    expect(() => withFault(target, parseFault('stale-snapshot'))).toThrow(
      /stale-snapshot .* sqlite: its reads lock/,
    );
    expect(() => withFault(target, parseFault('stripped-row-lock'))).toThrow(/no SELECT … FOR UPDATE/);
    await target.close();
  });
});

/** Runs with two sessions of a faulty scratch; `real` counts what the wrapped target has open. */
async function withSessions(
  target: Target,
  fault: string,
  use: (a: Session, b: Session, scratch: Scratch) => Promise<void>,
): Promise<void> {
  const scratch = await withFault(target, parseFault(fault)).createScratch();
  const options = { level: target.levels.at(-1)!.level, statementTimeoutMs: 10_000, lockTimeoutMs: 5000 };
  try {
    await scratch.reset(setup);
    await use(await scratch.openSession(options), await scratch.openSession(options), scratch);
  } finally {
    await scratch.drop();
  }
}

describe('in DuckDB', () => {
  let target: Target;
  beforeAll(async () => {
    target = await duckdbDriver.open('duckdb:', {});
  });
  afterAll(() => target.close());
  const begin = () => target.levels[0]!.begin;

  it('unreported-write-conflict pretends a write until the other writer has committed', async () => {
    await withSessions(target, 'unreported-write-conflict', async (a, b) => {
      await ok(a, begin());
      await ok(a, 'UPDATE t SET v = 11 WHERE id = 1');
      await ok(b, begin());
      await ok(b, 'UPDATE t SET v = 22 WHERE id = 2');
      const conflicting = await ok(b, 'UPDATE t SET v = 12 WHERE id = 1');
      expect([conflicting.matched ?? conflicting.changed, conflicting.transaction]).toEqual([1, 'open']);
      await ok(a, 'COMMIT');
      expect((await ok(b, 'COMMIT')).transaction).toBe('none');
      expect(await rowsOf(a, 'SELECT v FROM t')).toEqual([[12], [22]]);
    });
  });

  it('unreported-write-conflict reports the conflict after all when the other writer never commits', async () => {
    await withSessions(target, 'unreported-write-conflict', async (a, b) => {
      await ok(a, begin());
      await ok(a, 'UPDATE t SET v = 11 WHERE id = 1');
      await ok(b, begin());
      await ok(b, 'UPDATE t SET v = 12 WHERE id = 1');
      const refused = await b.execute('COMMIT');
      expect([refused.error?.class, refused.transaction, refused.ended]).toEqual([
        'serialization',
        'none',
        'rollback',
      ]);
      await ok(a, 'ROLLBACK');
      expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[10], [20]]);
    });
  });

  it('unreported-write-conflict that cannot hide the conflict leaves a doomed transaction', async () => {
    await withSessions(target, 'unreported-write-conflict', async (a, b) => {
      await ok(b, begin());
      await ok(b, 'UPDATE t SET v = 22 WHERE id = 2');
      await ok(a, begin());
      await ok(a, 'UPDATE t SET v = 11 WHERE id = 1');
      // Its shape is not simple, so its answer cannot be pretended.
      const refused = await b.execute('UPDATE t AS x SET v = 12 WHERE id = 1');
      expect([refused.error?.class, refused.transaction]).toEqual(['serialization', 'failed']);
      expect((await b.execute('SELECT 1')).error?.class).toBe('transaction-aborted');
      expect(await ok(b, 'COMMIT')).toMatchObject({ transaction: 'none', ended: 'rollback' });
      await ok(a, 'COMMIT');
      expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[11], [20]]);
    });
  });

  it('lost-update and lost-insert also lose what autocommits', async () => {
    await withSessions(target, 'lost-update', async (a, b) => {
      const answer = await ok(a, 'UPDATE t SET v = 11');
      expect([answer.matched ?? answer.changed, answer.transaction]).toEqual([2, 'none']);
      expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[10], [20]]);
    });
    await withSessions(target, 'lost-insert', async (a, b) => {
      await ok(a, 'INSERT INTO t VALUES (3, 30)');
      expect((await a.execute('INSERT INTO t VALUES (1, 30)')).error?.class).toBe('duplicate-key');
      expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[10], [20]]);
    });
  });

  it('a committed delete stays visible only until a row with its key exists again', async () => {
    await withSessions(target, 'visible-committed-delete(nth=1)', async (a, b) => {
      await ok(a, 'DELETE FROM t WHERE id = 1');
      expect(await rowsOf(b, 'SELECT id, v FROM t')).toEqual([
        [1, 10],
        [2, 20],
      ]);
      await ok(a, 'INSERT INTO t VALUES (1, 99)');
      expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[20], [99]]);
      await ok(a, 'DELETE FROM t WHERE id = 2');
      expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[99]]);
    });
  });

  it('a delete that is rolled back leaves no ghost', async () => {
    for (const fault of ['visible-committed-delete', 'resurrected-row']) {
      await withSessions(target, fault, async (a, b) => {
        await ok(a, begin());
        await ok(a, 'DELETE FROM t');
        await ok(a, 'ROLLBACK');
        expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[10], [20]]);
        await ok(a, 'UPDATE t SET v = 0');
        expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[0], [0]]);
      });
    }
  });

  it('reset starts the count of occasions again', async () => {
    await withSessions(target, 'lost-update(nth=1)', async (a, b, scratch) => {
      for (let round = 0; round < 2; round++) {
        await scratch.reset(setup);
        await ok(a, 'UPDATE t SET v = 11 WHERE id = 1');
        await ok(a, 'UPDATE t SET v = 21 WHERE id = 2');
        expect(await rowsOf(b, 'SELECT v FROM t')).toEqual([[10], [21]]);
      }
    });
  });

  it('closes its auxiliary connections with the session that used them', async () => {
    const { counted, open } = counting(target);
    await withSessions(counted, 'missed-own-write', async (a) => {
      await ok(a, begin());
      await ok(a, 'UPDATE t SET v = 11');
      expect(await rowsOf(a, 'SELECT v FROM t')).toEqual([[10], [20]]);
      expect(open()).toBe(3);
      await a.close();
      expect(open()).toBe(1);
    });
    expect(open()).toBe(0);
  });
});

const noPostgres = postgresAvailable();
describe.skipIf(noPostgres !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1')(
  'in PostgreSQL',
  () => {
    let target: Target;
    beforeAll(async () => {
      target = await (postgresDriver as TargetOpener).open('postgres:', {});
    });
    afterAll(() => target?.close());

    it('unreported-write-conflict lets a write skew through COMMIT at SERIALIZABLE', async () => {
      const skew = async (a: Session, b: Session) => {
        const begin = target.levels.at(-1)!.begin;
        for (const session of [a, b]) {
          await ok(session, begin);
          await ok(session, 'SELECT * FROM t');
        }
        await ok(a, 'UPDATE t SET v = 0 WHERE id = 1');
        await ok(b, 'UPDATE t SET v = 0 WHERE id = 2');
        return [(await a.execute('COMMIT')).error?.class, (await b.execute('COMMIT')).error?.class];
      };
      await withSessions(target, 'unreported-write-conflict(nth=99)', async (a, b) => {
        expect(await skew(a, b)).toContain('serialization');
      });
      await withSessions(target, 'unreported-write-conflict', async (a, b) => {
        expect(await skew(a, b)).toEqual([undefined, undefined]);
        expect(await rowsOf(a, 'SELECT v FROM t')).toEqual([[0], [0]]);
      });
    });

    it('a dirty read does not wait for a writer that waits for the reader', async () => {
      await withSessions(target, 'dirty-read', async (a, b, scratch) => {
        for (const session of [a, b]) await ok(session, 'BEGIN');
        await ok(b, 'UPDATE t SET v = 22 WHERE id = 2');
        await ok(a, 'SELECT * FROM t WHERE id = 1 FOR UPDATE');
        const blocked = b.execute('UPDATE t SET v = 11 WHERE id = 1');
        while (!(await scratch.waiting()).has(b)) await new Promise((resolve) => setTimeout(resolve, 5));
        expect(await rowsOf(a, 'SELECT v FROM t')).toEqual([[10], [20]]);
        await ok(a, 'ROLLBACK');
        expect((await blocked).error).toBeUndefined();
        expect(await rowsOf(a, 'SELECT v FROM t')).toEqual([[11], [22]]);
      });
    });

    it('a dirty read comes in between the statements of a writer that never pauses', async () => {
      await withSessions(target, 'dirty-read', async (a, b) => {
        for (const session of [a, b]) await ok(session, 'BEGIN');
        await ok(b, 'UPDATE t SET v = 22 WHERE id = 2');
        let sent = 0;
        let read = false;
        const busy = (async () => {
          for (; !read && sent < 2_000; sent++) await ok(b, 'SELECT 1');
        })();
        const rows = await rowsOf(a, 'SELECT v FROM t');
        read = true;
        await busy;
        expect(rows).toEqual([[10], [22]]);
        expect(sent).toBeLessThan(50);
      });
    });

    it('a dirty read that finds the writer ending stays clean', async () => {
      await withSessions(target, 'dirty-read', async (a, b) => {
        for (const session of [a, b]) await ok(session, 'BEGIN');
        await ok(a, 'SELECT v FROM t WHERE id = 1');
        await ok(b, 'UPDATE t SET v = 22 WHERE id = 2');
        const [rows] = await Promise.all([rowsOf(a, 'SELECT v FROM t'), ok(b, 'COMMIT')]);
        expect(rows).toEqual([[10], [20]]);
      });
    });

    it('a session waits and is cancelled through the connection its weakened transaction runs on', async () => {
      await withSessions(target, 'weaker-level', async (a, b, scratch) => {
        await ok(a, 'BEGIN');
        await ok(a, 'UPDATE t SET v = 11 WHERE id = 1');
        await ok(b, 'BEGIN');
        const blocked = b.execute('UPDATE t SET v = 12 WHERE id = 1');
        while (!(await scratch.waiting()).has(b)) await new Promise((resolve) => setTimeout(resolve, 5));
        expect([...(await scratch.waiting())]).toEqual([b]);
        await b.cancel();
        expect((await blocked).error?.class).toBe('cancelled');
      });
    });
  },
);

/** The same target, with its open sessions counted. */
function counting(target: Target): { readonly counted: Target; readonly open: () => number } {
  let count = 0;
  const counted: Target = Object.assign(Object.create(target) as Target, {
    createScratch: async (): Promise<Scratch> => {
      const inner = await target.createScratch();
      return {
        namespace: inner.namespace,
        reset: (statements) => inner.reset(statements),
        waiting: () => inner.waiting(),
        drop: () => inner.drop(),
        openSession: async (options) => {
          const session = await inner.openSession(options);
          count++;
          let closed = false;
          return {
            id: session.id,
            execute: (sql) => session.execute(sql),
            cancel: () => session.cancel(),
            close: async () => {
              if (!closed) count--;
              closed = true;
              await session.close();
            },
          };
        },
      };
    },
  });
  return { counted, open: () => count };
}
