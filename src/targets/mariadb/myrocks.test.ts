/** MyRocks on a private server: what it does after errors, and that its contract is the one it keeps. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scratch, Session, Target } from '../target.js';
import { mariadbAvailable, mariadbDriver, myrocksAvailable } from './index.js';
import { until } from './live-mariadb.case.js';

// The plugin must fit the server to the last digit of its version, so it may be missing where MariaDB is required.
const missing = mariadbAvailable() ?? myrocksAvailable();
const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

describe.skipIf(missing !== undefined)(`MyRocks${missing === undefined ? '' : ` (${missing})`}`, () => {
  let target: Target;
  let scratch: Scratch;
  const session = (level: 'read committed' | 'repeatable read' = 'repeatable read') =>
    scratch.openSession({ level, statementTimeoutMs: 20_000, lockTimeoutMs: 10_000 });

  beforeAll(async () => {
    target = await mariadbDriver.open('mariadb:?engine=rocksdb', {});
    scratch = await target.createScratch();
  });
  afterAll(() => target?.close());

  it('says its engine in the stamp, and offers the two levels it has', () => {
    expect(target.stamp.settings).toMatchObject({ default_storage_engine: 'ROCKSDB' });
    expect(target.levels.map(({ contract }) => contract)).toEqual([
      'mariadb:read-committed+rocksdb',
      'mariadb:repeatable-read+rocksdb',
    ]);
  });

  it('keeps the transaction open after a snapshot conflict, and ROLLBACK ends it', async () => {
    await scratch.reset(setup);
    const [a, b] = await both();
    await a.execute('BEGIN');
    await a.execute('UPDATE t SET v = 21 WHERE id = 2');
    await b.execute('UPDATE t SET v = 11 WHERE id = 1');
    expect(await a.execute('UPDATE t SET v = 12 WHERE id = 1')).toMatchObject({
      error: { class: 'serialization', code: '1213' },
      transaction: 'open',
    });
    expect((await a.execute('SELECT v FROM t ORDER BY id')).rows).toEqual([[10], [21]]);
    expect(await a.execute('ROLLBACK')).toMatchObject({ transaction: 'none', ended: 'rollback' });
    // What was left open would hold its locks against this.
    await scratch.reset(setup);
    await Promise.all([a.close(), b.close()]);
  });

  it('is seen waiting for a row', async () => {
    await scratch.reset(setup);
    const [a, b] = await both();
    await a.execute('BEGIN');
    await a.execute('UPDATE t SET v = 1 WHERE id = 1');
    const waits = b.execute('UPDATE t SET v = 2 WHERE id = 1');
    await until('b waits', async () => (await scratch.waiting()).has(b));
    await a.execute('COMMIT');
    expect(await waits).toMatchObject({ matched: 1 });
    await Promise.all([a.close(), b.close()]);
  });

  it('takes its snapshot with the first statement on data, which a SELECT without a table is not', async () => {
    await scratch.reset(setup);
    const [a, b] = await both();
    await a.execute('BEGIN');
    await a.execute('SELECT 1');
    await b.execute('UPDATE t SET v = 11 WHERE id = 1');
    expect((await a.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[11]]);
    await b.execute('UPDATE t SET v = 12 WHERE id = 1');
    expect((await a.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[11]]);
    await Promise.all([a.close(), b.close()]);
  });

  it('leaves a transaction open when it refuses START TRANSACTION WITH CONSISTENT SNAPSHOT, and says so', async () => {
    await scratch.reset(setup);
    const a = await session('read committed');
    const b = await session();
    const refused = await a.execute('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    expect(refused).toMatchObject({ error: { code: '4062' }, transaction: 'open' });
    await a.execute('UPDATE t SET v = 11 WHERE id = 1');
    expect((await b.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[10]]);
    expect(await a.execute('COMMIT')).toMatchObject({ transaction: 'none', ended: 'commit' });
    expect((await b.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[11]]);
    await Promise.all([a.close(), b.close()]);
  });

  it('meets a row twice that its transaction has moved to a smaller key (docs/stages/targets-mysql.md)', async () => {
    await scratch.reset([
      'CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT, KEY k (v))',
      'INSERT INTO t VALUES (1, 3, 0)',
    ]);
    const a = await session();
    await a.execute('BEGIN');
    await a.execute('UPDATE t SET v = 2');
    // When this says 1, the bug is mended and its entry among the known ones can go.
    expect(await a.execute('UPDATE t FORCE INDEX (k) SET w = w + 1 WHERE v = 2')).toMatchObject({
      matched: 2,
    });
    expect((await a.execute('SELECT * FROM t')).rows).toEqual([[1, 2, 2]]);
    await a.close();
  });

  async function both(): Promise<[Session, Session]> {
    return [await session(), await session()];
  }
});
