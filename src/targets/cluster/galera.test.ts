/** Two private nodes of Galera. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeConformance } from '../conformance.case.js';
import { galeraAvailable } from '../mariadb/galera-nodes.js';
import { openTarget } from '../registry.js';
import type { Scratch, Target } from '../target.js';
import { sessionOn, setup } from './live-cluster.case.js';

// Debian has the library in a package of its own, so it may be missing where MariaDB is required.
const missing = galeraAvailable();

describeConformance({
  open: () => openTarget('cluster:mariadb'),
  available: galeraAvailable,
  optional: true,
  skips: {
    'reset repeats generated keys and respects foreign keys':
      'every node generates keys of its own (wsrep_auto_increment_control): 1, 3, … on the first of two',
  },
});

describe.skipIf(missing !== undefined)(`two nodes of Galera${missing ? ` (${missing})` : ''}`, () => {
  let target: Target;
  let scratch: Scratch;
  beforeAll(async () => {
    target = await openTarget('cluster:mariadb');
    scratch = await target.createScratch();
  }, 60_000);
  afterAll(() => target?.close());

  it('says what it is, and offers the levels that hold between nodes', () => {
    expect(target.name).toBe('mariadb');
    expect(target.nodes).toEqual([{ name: 'node1' }, { name: 'node2' }]);
    expect(target.stamp.settings).toMatchObject({ cluster: 'galera' });
    expect(target.levels.map(({ contract }) => contract)).toEqual([
      'mariadb:read-committed+galera',
      'mariadb:repeatable-read+galera',
    ]);
  });

  it('has the set-up on every node when reset ends, again and again', async () => {
    const other = await sessionOn(scratch, 'node2');
    for (let v = 0; v < 10; v++) {
      await scratch.reset(setup(v));
      expect((await other.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[v]]);
    }
    await other.close();
  });

  it('lets two nodes write one row at once, and the first committer wins', async () => {
    await scratch.reset(setup(0));
    const [a, b] = [await sessionOn(scratch, 'node1'), await sessionOn(scratch, 'node2')];
    for (const [session, v] of [
      [a, 1],
      [b, 2],
    ] as const) {
      await session.execute('BEGIN');
      expect(await session.execute(`UPDATE t SET v = ${v} WHERE id = 1`)).toMatchObject({ changed: 1 });
    }
    expect((await scratch.waiting()).size).toBe(0);
    expect((await a.execute('COMMIT')).error).toBeUndefined();
    expect(await b.execute('COMMIT')).toMatchObject({
      error: { class: 'deadlock', code: '1213' },
      transaction: 'none',
      ended: 'rollback',
    });
    await scratch.catchUp!(5000);
    for (const session of [a, b])
      expect((await session.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[1]]);
    await Promise.all([a.close(), b.close()]);
  });

  it('answers a statement with what it did: one that loses to another node fails, and is not tried again', async () => {
    const [a, b] = [await sessionOn(scratch, 'node1'), await sessionOn(scratch, 'node2')];
    let lost = 0;
    for (let round = 0; round < 60 && lost < 3; round++) {
      await scratch.reset(setup(0));
      const both = await Promise.all([a, b].map((session) => session.execute('DELETE FROM t RETURNING id')));
      const deleted = both.flatMap(({ error, rows }) => (error === undefined ? (rows ?? []) : [])).flat();
      expect(deleted, `round ${round}`).toEqual([...new Set(deleted)]);
      lost += both.filter(({ error }) => error?.class === 'deadlock').length;
    }
    expect(lost).toBeGreaterThan(0);
    await Promise.all([a.close(), b.close()]);
  });

  it('sees who waits on each node', async () => {
    await scratch.reset(setup(0));
    const [a, b] = [await sessionOn(scratch, 'node2'), await sessionOn(scratch, 'node2')];
    await a.execute('BEGIN');
    await a.execute('UPDATE t SET v = 1 WHERE id = 1');
    const pending = b.execute('UPDATE t SET v = 2 WHERE id = 1');
    while (!(await scratch.waiting()).has(b)) await new Promise((resolve) => setTimeout(resolve, 5));
    await a.execute('COMMIT');
    expect((await pending).error).toBeUndefined();
    await Promise.all([a.close(), b.close()]);
  });
});
