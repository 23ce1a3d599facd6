/** What can be known without a cluster: which statements go out, in which order, and how answers are read. */
import { describe, expect, it } from 'vitest';
import type { ServerError } from '../postgres/postgres-errors.js';
import { parseServerUrl } from '../postgres/postgres-url.js';
import type { Wire, WireReply } from '../postgres/wire-connection.js';
import { classifyCockroachError } from './cockroach-errors.js';
import { addressOf, openCockroachAt } from './cockroach-target.js';
import { cockroachDriver } from './index.js';

type Reply = Partial<WireReply> | 'never';

/** A cluster that answers by the first pattern that fits, and writes down what it was sent. */
class FakeCluster {
  readonly log: string[] = [];
  readonly settings: Readonly<Record<string, string>>[] = [];
  #connections = 0;

  constructor(private readonly replies: readonly (readonly [RegExp, Reply])[]) {}

  connect = async (database: string, settings: Readonly<Record<string, string>>): Promise<Wire> => {
    const id = ++this.#connections;
    const { log } = this;
    const reply = (sql: string) => this.replies.find(([pattern]) => pattern.test(sql))?.[1] ?? {};
    let isBusy = false;
    this.settings.push(settings);
    return {
      id,
      transaction: 'none',
      isLost: false,
      get isBusy() {
        return isBusy;
      },
      execute: async (sql) => {
        log.push(`${id}@${database}: ${sql.replaceAll(/\s+/g, ' ')}`);
        const answer = /session_id$/.test(sql) ? { rows: [[`s${id}`]] } : reply(sql);
        if (answer === 'never') {
          isBusy = true;
          return new Promise(() => {});
        }
        return { transaction: 'none', ...answer };
      },
      close: async () => {
        log.push(`${id}@${database}: closed`);
      },
    };
  };
}

const address = parseServerUrl('cockroach://root:s3cret@127.0.0.1/defaultdb?sslmode=disable', {
  scheme: 'cockroach',
  port: 26257,
});
const version = [/version\(\)/, { rows: [['CockroachDB CCL v24.3.1 (x86_64, built 2024)']] }] as const;
const readCommitted = [/SHOW transaction_isolation/, { rows: [['read committed']] }] as const;
const options = { level: 'serializable', statementTimeoutMs: 1000, lockTimeoutMs: 500 } as const;

describe('the CockroachDB target', () => {
  it('takes its version and levels from the cluster, and shows no password', async () => {
    const target = await openCockroachAt(address, new FakeCluster([version, readCommitted]).connect);
    expect(target.stamp).toEqual({
      name: 'cockroach',
      version: 'v24.3.1',
      url: 'cockroach://root@127.0.0.1:26257/defaultdb?sslmode=disable',
    });
    expect(target.levels.map(({ contract }) => contract)).toEqual([
      'cockroach:read-committed',
      'cockroach:serializable',
    ]);
  });

  it('does not offer READ COMMITTED where the cluster silently upgrades it', async () => {
    const upgrades = [/SHOW transaction_isolation/, { rows: [['serializable']] }] as const;
    const target = await openCockroachAt(address, new FakeCluster([version, upgrades]).connect);
    expect(target.levels.map(({ level }) => level)).toEqual(['serializable']);
    const scratch = await target.createScratch();
    await expect(scratch.openSession({ ...options, level: 'read committed' })).rejects.toThrow(
      /it has serializable/,
    );
  });

  it('refuses a server of another make', async () => {
    const other = new FakeCluster([[/version\(\)/, { rows: [['PostgreSQL 18.4']] }]]);
    await expect(openCockroachAt(address, other.connect)).rejects.toThrow(
      /not CockroachDB but says: PostgreSQL/,
    );
  });

  it('creates, resets and drops a database of its own, and no other', async () => {
    const cluster = new FakeCluster([version, readCommitted]);
    const target = await openCockroachAt(address, cluster.connect);
    cluster.log.length = 0;
    const scratch = await target.createScratch();
    await scratch.reset(['CREATE TABLE t (id INT)']);
    await target.close();
    const name = scratch.namespace;
    expect(cluster.log).toEqual(
      [
        `CREATE DATABASE ${name}`,
        `DROP DATABASE IF EXISTS ${name} CASCADE`,
        `CREATE DATABASE ${name}`,
        'CREATE TABLE t (id INT)',
        'DISCARD ALL',
        `DROP DATABASE IF EXISTS ${name} CASCADE`,
        'closed',
      ].map((sql) => `2@${name}: ${sql}`),
    );
  });

  it('names the set-up statement that fails', async () => {
    const syntax = { error: { code: '42601', message: 'at or near "x"' } };
    const cluster = new FakeCluster([version, readCommitted, [/^BROKEN/, syntax]]);
    const scratch = await (await openCockroachAt(address, cluster.connect)).createScratch();
    await expect(scratch.reset(['SELECT 1', 'BROKEN x'])).rejects.toThrow(
      /statement 2 of 2 failed.*42601.*BROKEN x/s,
    );
  });

  it('finds waiting sessions in the lock table, and cancels by the name of the session', async () => {
    const cluster = new FakeCluster([
      version,
      readCommitted,
      [/cluster_locks/, { rows: [['s4']] }],
      [/^UPDATE/, 'never'],
    ]);
    const scratch = await (await openCockroachAt(address, cluster.connect)).createScratch();
    const [first, second] = [await scratch.openSession(options), await scratch.openSession(options)];
    expect(cluster.settings.at(-1)).toMatchObject({
      default_transaction_isolation: 'serializable',
      statement_timeout: '1000',
      lock_timeout: '500',
    });
    expect((await scratch.waiting()).size, 'nobody is busy, nobody is asked').toBe(0);
    expect(cluster.log.some((line) => line.includes('cluster_locks'))).toBe(false);
    void first.execute('UPDATE t SET v = 1');
    void second.execute('UPDATE t SET v = 2');
    expect([...(await scratch.waiting())]).toEqual([second]);
    await second.cancel();
    expect(cluster.log.at(-1)).toMatch(/CANCEL QUERIES IF EXISTS .* WHERE session_id = 's4'/);
  });

  it('does not claim to know how a COMMIT with an ambiguous result ended', async () => {
    const ambiguous = { error: { code: '40003', message: 'result is ambiguous' } };
    const cluster = new FakeCluster([version, readCommitted, [/^COMMIT/, ambiguous]]);
    const connect: typeof cluster.connect = async (...args) =>
      Object.defineProperty(await cluster.connect(...args), 'transaction', { value: 'open' });
    const scratch = await (await openCockroachAt(address, connect)).createScratch();
    const session = await scratch.openSession(options);
    expect((await session.execute('COMMIT')).ended).toBe('unknown');
  });

  it('connects the driver under the scheme it knows', () => {
    const { connectionString } = addressOf(address, 'isolde_x');
    expect(connectionString).toBe('postgres://root:s3cret@127.0.0.1:26257/isolde_x?sslmode=disable');
  });

  it('reports a host where nothing listens', async () => {
    const opening = cockroachDriver.open('cockroach://root:s3cret@127.0.0.1:19998/defaultdb', {});
    await expect(opening).rejects.toThrow(
      /Cannot connect to CockroachDB at 127.0.0.1:19998: nothing listens/,
    );
  });
});

describe('the class of a CockroachDB error', () => {
  const cases: readonly (readonly [ServerError, string])[] = [
    [
      { code: '40001', message: 'restart transaction: TransactionRetryWithProtoRefreshError: …' },
      'serialization',
    ],
    [{ code: '55P03', message: 'canceling statement due to lock timeout on row' }, 'lock-timeout'],
    [{ code: '55P03', message: 'could not obtain lock on row (k)=(1)' }, 'busy'],
    [{ code: '57014', message: 'query execution canceled due to statement timeout' }, 'statement-timeout'],
    [{ code: '57014', message: 'query execution canceled' }, 'cancelled'],
    [{ code: '57P01', message: 'server is shutting down' }, 'connection-lost'],
    [{ code: '23505', message: 'duplicate key value' }, 'duplicate-key'],
    [{ code: '40003', message: 'result is ambiguous' }, 'other'],
    [{ code: '0A000', message: 'unimplemented' }, 'unsupported'],
  ];
  it.each(cases)('%o is %s', (error, expected) => {
    expect(classifyCockroachError(error, { cancelRequested: false })).toBe(expected);
  });
});
