/** A private PostgreSQL primary and its hot standby. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeConformance } from '../conformance.case.js';
import { postgresAvailable } from '../postgres/index.js';
import { openTarget } from '../registry.js';
import type { Scratch, Target } from '../target.js';
import { sessionOn, setup } from './live-cluster.case.js';

const missing = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : postgresAvailable();

describeConformance({ open: () => openTarget('cluster:postgres'), available: postgresAvailable });

describe.skipIf(missing !== undefined)(`a primary and its standby${missing ? ` (${missing})` : ''}`, () => {
  let target: Target;
  let scratch: Scratch;
  beforeAll(async () => {
    target = await openTarget('cluster:postgres');
    scratch = await target.createScratch();
  }, 60_000);
  afterAll(() => target?.close());

  it('says what it is, and offers the levels that a standby has', () => {
    expect(target.name).toBe('postgres');
    expect(target.nodes).toEqual([{ name: 'primary' }, { name: 'standby', readOnly: true }]);
    expect(target.stamp).toMatchObject({ url: 'cluster:postgres:', settings: { cluster: 'standby' } });
    expect(target.levels.map(({ contract }) => contract)).toEqual([
      'postgres:read-committed+standby',
      'postgres:repeatable-read+standby',
    ]);
  });

  it('has the set-up on every node when reset ends, again and again', async () => {
    const standby = await sessionOn(scratch, 'standby');
    for (let v = 0; v < 20; v++) {
      await scratch.reset(setup(v));
      expect((await standby.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[v]]);
    }
    await standby.close();
  });

  it('takes no writes on the standby', async () => {
    await scratch.reset(setup(1));
    const standby = await sessionOn(scratch, 'standby');
    expect(await standby.execute('UPDATE t SET v = 2')).toMatchObject({ error: { code: '25006' } });
    await standby.close();
  });

  it('shows on the standby what was committed, once it has caught up', async () => {
    await scratch.reset(setup(0));
    const [primary, standby] = [await sessionOn(scratch, 'primary'), await sessionOn(scratch, 'standby')];
    await primary.execute('BEGIN');
    await primary.execute('UPDATE t SET v = 5');
    await scratch.catchUp!(5000);
    expect((await standby.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[0]]);
    await primary.execute('COMMIT');
    await scratch.catchUp!(5000);
    expect((await standby.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[5]]);
    await Promise.all([primary.close(), standby.close()]);
  });

  it('says that a standby keeps behind', async () => {
    await scratch.reset(setup(0));
    const [primary, standby] = [await sessionOn(scratch, 'primary'), await sessionOn(scratch, 'standby')];
    await standby.execute('BEGIN');
    await standby.execute('SELECT v FROM t');
    // The lock is replayed, and waits for the reader.
    await primary.execute('TRUNCATE t');
    await expect(scratch.catchUp!(50)).rejects.toThrow(/has not replayed .* within 50 ms/);
    await standby.execute('ROLLBACK');
    await scratch.catchUp!(5000);
    await Promise.all([primary.close(), standby.close()]);
  });

  it('names the nodes there are to who asks for another', async () => {
    await expect(sessionOn(scratch, 'node7')).rejects.toThrow('no node "node7"; it has primary, standby');
  });
});

it.skipIf(missing !== undefined)('refuses servers that are no primary and standby', async () => {
  const { startServer, urlOf } = await import('../postgres/postgres-lab.case.js');
  const servers = [await startServer(), await startServer()];
  try {
    const opening = openTarget(`cluster:${servers.map((server) => urlOf(server)).join(',')}`);
    await expect(opening).rejects.toThrow(/is no hot standby: it takes writes of its own/);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
});
