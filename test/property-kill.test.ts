/** SIGKILL as a fault: private servers are killed in the middle of transactions, come back, and hold what was committed. */
import { describe, expect, it } from 'vitest';
import { shippedProperties, testProperties } from '../src/properties/index.js';
import { openTarget } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { enginesRequired } from './isolde.js';

const servers = [
  { url: 'postgres:?synchronous_commit=on&full_page_writes=on', missing: postgresAvailable() },
  {
    url: 'mariadb:?innodb_flush_log_at_trx_commit=1&innodb_doublewrite=ON',
    missing: mariadbAvailable(),
  },
];
const kill = shippedProperties.filter(({ name }) => name === 'kill');

describe.each(servers)('a private server of $url', ({ url, missing }) => {
  it.skipIf(!enginesRequired && missing !== undefined)(
    'keeps what was committed when it is killed, and nothing else',
    { timeout: 120_000 },
    async () => {
      const { failures, counts, leftOut } = await testProperties({
        open: () => openTarget(url),
        ...{ properties: kill, seed: '1', plans: 1, length: 30, now: () => 0 },
      });
      expect([failures, leftOut]).toEqual([[], []]);
      expect(counts.faults).toBeGreaterThan(0);
    },
  );
});

it.skipIf(!enginesRequired && postgresAvailable() !== undefined)(
  'is not offered where a killed server may lose commits',
  { timeout: 60_000 },
  async () => {
    const target = await openTarget('postgres:');
    try {
      expect(target.kill).toBeUndefined();
    } finally {
      await target.close();
    }
  },
);

it('of an embedded engine is survived by its file', async () => {
  const limits = { level: 'serializable', statementTimeoutMs: 5000, lockTimeoutMs: 5000 } as const;
  const [killed, heir] = [await openTarget('sqlite:'), await openTarget('sqlite:')];
  try {
    const scratch = await killed.createScratch();
    const session = await scratch.openSession(limits);
    await session.execute('CREATE TABLE t (a INT)');
    await session.execute('INSERT INTO t VALUES (1)');
    await session.execute('BEGIN');
    await session.execute('INSERT INTO t VALUES (2)');
    const adopted = await heir.adoptScratch!(scratch.namespace);
    const reader = await adopted.openSession(limits);
    expect((await reader.execute('SELECT a FROM t')).rows).toEqual([[1]]);
    await session.execute('COMMIT');
    await adopted.reopen!();
    const again = await adopted.openSession(limits);
    expect((await again.execute('SELECT a FROM t')).rows).toEqual([[1], [2]]);
  } finally {
    await killed.close();
    await heir.close();
  }
});
