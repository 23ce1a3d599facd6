/** CockroachDB as a target, over PostgreSQL's protocol. Its levels, errors and ways to wait are its own. */
import type { Level } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import type { TargetStamp } from '../../histories/index.js';
import { connectError } from '../postgres/connect-error.js';
import { clientConfig, parseServerUrl, type ServerAddress } from '../postgres/postgres-url.js';
import { type Wire, WireConnection } from '../postgres/wire-connection.js';
import type {
  OpenOptions,
  Scratch,
  Target,
  TargetFeatures,
  TargetLevel,
  TargetOpener,
  TargetReach,
} from '../target.js';
import { type CockroachContext, CockroachScratch } from './cockroach-scratch.js';

export const cockroachDriver: TargetOpener = {
  open: openCockroach,
};

async function openCockroach(url: string, options: OpenOptions): Promise<Target> {
  const address = parseServerUrl(url, { scheme: 'cockroach', port: 26257 });
  const timeoutMs = options.connectTimeoutMs ?? 10_000;
  return openCockroachAt(address, async (database, settings) => {
    const config = clientConfig(addressOf(address, database), settings, timeoutMs);
    return WireConnection.open(config).catch((error: unknown) => {
      throw connectError(error, address, 'CockroachDB');
    });
  });
}

/** The same server, another database; the driver knows the scheme `postgres` only. */
export function addressOf(address: ServerAddress, database: string): ServerAddress {
  const url = new URL(address.connectionString.replace(/^cockroach:/, 'postgres:'));
  url.pathname = `/${encodeURIComponent(database)}`;
  return { ...address, database, connectionString: url.href };
}

/** Opens the target over any way to connect. */
export async function openCockroachAt(
  address: ServerAddress,
  connect: CockroachContext['connect'],
): Promise<Target> {
  const connection = await connect(address.database, {});
  try {
    const { rows, error } = await connection.execute('SELECT version()');
    const product = String(rows?.[0]?.[0] ?? error?.message);
    if (!product.startsWith('CockroachDB')) {
      throw new IsoldeError('usage', `This server is not CockroachDB but says: ${product}`);
    }
    const version = /v\d+\.\d+\.\d+\S*/.exec(product)?.[0] ?? product;
    return new CockroachTarget(address, version, await readLevels(connection), connect);
  } finally {
    await connection.close();
  }
}

/** READ COMMITTED is a setting of the cluster; where it is off, a session that asks for it gets SERIALIZABLE. */
async function readLevels(connection: Wire): Promise<readonly TargetLevel[]> {
  await connection.execute('BEGIN ISOLATION LEVEL READ COMMITTED');
  const { rows } = await connection.execute('SHOW transaction_isolation');
  await connection.execute('ROLLBACK');
  const names: readonly Level[] =
    rows?.[0]?.[0] === 'read committed' ? ['read committed', 'serializable'] : ['serializable'];
  return names.map((level) => ({
    level,
    contract: `cockroach:${level.replaceAll(' ', '-')}`,
    begin: `BEGIN ISOLATION LEVEL ${level.toUpperCase()}`,
  }));
}

class CockroachTarget implements Target, CockroachContext {
  readonly name = 'cockroach';
  readonly dialect = 'postgres';
  readonly defaultLevel = 'serializable';
  readonly stamp: TargetStamp;
  readonly features: TargetFeatures = {
    conflicts: 'wait',
    counts: 'matched',
    lockingReads: true,
    savepoints: true,
    errorDoomsTransaction: true,
    // Since v25.2 DDL commits what is open, and before it could half succeed.
    transactionalDdl: false,
    cancel: true,
  };
  readonly #scratches = new Set<CockroachScratch>();

  constructor(
    address: ServerAddress,
    version: string,
    readonly levels: readonly TargetLevel[],
    readonly connect: CockroachContext['connect'],
  ) {
    this.stamp = { name: this.name, version, url: address.shown };
  }

  /** Not asked: which of a cluster's many rights reach a user's data has not been tried on a real one. */
  async reach(): Promise<TargetReach> {
    return {
      kind: 'beyond',
      why: 'Isolde does not know what this login may do on CockroachDB',
      advice: 'Use a login that owns nothing and has CREATEDB alone, or a cluster without data of yours',
    };
  }

  async createScratch(): Promise<Scratch> {
    const scratch = await CockroachScratch.create(this);
    this.#scratches.add(scratch);
    return scratch;
  }

  forget(scratch: CockroachScratch): void {
    this.#scratches.delete(scratch);
  }

  async close(): Promise<void> {
    const dropped = await Promise.allSettled([...this.#scratches].map((scratch) => scratch.drop()));
    const failed = dropped.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
