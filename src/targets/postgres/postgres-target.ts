/** PostgreSQL as a target: a server of the user's, or a private one that lives as long as the target. */

import type { Level } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import type { TargetStamp } from '../../histories/index.js';
import type { OpenOptions, Scratch, Target, TargetFeatures, TargetLevel, TargetOpener } from '../target.js';
import { connectError } from './connect-error.js';
import { PostgresScratch, type ScratchContext } from './postgres-scratch.js';
import { clientConfig, parsePostgresUrl, parseServerUrl, type ServerAddress } from './postgres-url.js';
import { type PrivateServer, startPostgresServer } from './private-server.js';
import { findNpmBinaries } from './server-binaries.js';
import { loadPg, WireConnection } from './wire-connection.js';

const levels: readonly TargetLevel[] = [
  level('read committed'),
  level('repeatable read'),
  level('serializable'),
];

function level(name: Level): TargetLevel {
  return {
    level: name,
    contract: `postgres:${name.replaceAll(' ', '-')}`,
    begin: `BEGIN ISOLATION LEVEL ${name.toUpperCase()}`,
  };
}

/** Settings a reader of a report needs to judge it. */
const stampedSettings = [
  'default_transaction_isolation',
  'default_transaction_read_only',
  'default_transaction_deferrable',
  'deadlock_timeout',
  'max_pred_locks_per_transaction',
];

const defaultConnectTimeoutMs = 10_000;
const startTimeoutMs = 60_000;

export const postgresDriver: TargetOpener = {
  open: openPostgres,
};

/** Why `postgres:` cannot be opened here, or undefined when it can. */
export function postgresAvailable(): string | undefined {
  const found = findNpmBinaries();
  return 'missing' in found ? found.missing : undefined;
}

async function openPostgres(url: string, options: OpenOptions): Promise<Target> {
  const address = parsePostgresUrl(url);
  const connectTimeoutMs = options.connectTimeoutMs ?? defaultConnectTimeoutMs;
  if (address.kind === 'server') {
    return openServer({ address, shown: address.shown, connectTimeoutMs });
  }
  await loadPg();
  const server = await startPostgresServer({
    binaries: address.binaries,
    settings: address.settings,
    scratchFolder: options.scratchFolder,
    startTimeoutMs,
  });
  try {
    return await openServer({
      address: parseServerUrl(privateServerUrl(server), { scheme: 'postgres', port: server.port }),
      shown: address.shown,
      connectTimeoutMs,
      server,
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function privateServerUrl({ login, host, port }: PrivateServer): string {
  return `postgres://${login.user}:${login.password}@${host}:${port}/postgres?sslmode=disable`;
}

interface ServerOptions {
  readonly address: ServerAddress;
  readonly shown: string;
  readonly connectTimeoutMs: number;
  readonly server?: PrivateServer;
}

async function openServer(options: ServerOptions): Promise<Target> {
  const connect = (settings: Readonly<Record<string, string>>) =>
    WireConnection.open(clientConfig(options.address, settings, options.connectTimeoutMs)).catch((error) => {
      throw connectError(error, options.address);
    });
  const about = await describeServer(await connect({}));
  return new PostgresTarget(options, about, connect);
}

interface ServerDescription {
  readonly version: string;
  readonly versionNumber: number;
  readonly sessionLimit: number;
  readonly isSuperuser: boolean;
  readonly settings: Readonly<Record<string, string>>;
}

async function describeServer(connection: WireConnection): Promise<ServerDescription> {
  const names = stampedSettings.map((name) => `current_setting('${name}')`);
  const reply = await connection.execute(`SELECT version(), current_setting('server_version'),
    current_setting('server_version_num', true), current_setting('max_connections', true),
    current_setting('superuser_reserved_connections', true)`);
  const [product, version, number, connections, reserved] = (reply.rows?.[0] ?? []).map(String);
  if (product?.startsWith('CockroachDB')) {
    await connection.close();
    throw new IsoldeError('usage', 'This server is CockroachDB: use a URL that begins with cockroach://');
  }
  const more = await connection.execute(
    `SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), ${names.join(', ')}`,
  );
  await connection.close();
  const error = reply.error ?? more.error;
  if (error !== undefined) {
    throw new IsoldeError('target', `The server does not answer like PostgreSQL: ${error.message}`);
  }
  const [isSuperuser, ...values] = more.rows![0]!;
  return {
    version: version!,
    versionNumber: Number(number),
    // One for the control connection of a scratch.
    sessionLimit: Number(connections) - Number(reserved) - 1,
    isSuperuser: isSuperuser === true,
    settings: Object.fromEntries(stampedSettings.map((name, index) => [name, String(values[index])])),
  };
}

class PostgresTarget implements Target, ScratchContext {
  readonly name = 'postgres';
  readonly dialect = 'postgres';
  readonly levels = levels;
  readonly stamp: TargetStamp;
  readonly defaultLevel: Level;
  readonly features: TargetFeatures;
  readonly isSuperuser: boolean;
  readonly versionNumber: number;
  readonly address: ServerAddress;
  readonly #server: PrivateServer | undefined;
  readonly #scratches = new Set<PostgresScratch>();
  #asking: Promise<boolean> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    { address, shown, server }: ServerOptions,
    about: ServerDescription,
    readonly connect: ScratchContext['connect'],
  ) {
    const { settings } = about;
    this.stamp = { name: this.name, version: about.version, url: shown, settings };
    this.defaultLevel =
      levels.find((entry) => entry.level === settings.default_transaction_isolation)?.level ??
      'read committed';
    this.features = {
      conflicts: 'wait',
      counts: 'matched',
      lockingReads: true,
      savepoints: true,
      errorDoomsTransaction: true,
      transactionalDdl: true,
      cancel: true,
      maxSessions: about.sessionLimit,
    };
    this.isSuperuser = about.isSuperuser;
    this.versionNumber = about.versionNumber;
    this.address = address;
    this.#server = server;
  }

  async createScratch(): Promise<Scratch> {
    if (this.#closing !== undefined) throw new IsoldeError('usage', 'The target was closed');
    const scratch = await PostgresScratch.create(this);
    this.#scratches.add(scratch);
    return scratch;
  }

  forget(scratch: PostgresScratch): void {
    this.#scratches.delete(scratch);
  }

  /** A server of ours is a child of ours; at another's door we knock. Sessions lost together share the answer. */
  hasCrashed(): Promise<boolean> {
    this.#asking ??= (async () =>
      (await this.#server?.hasCrashed()) || (await this.#refusesConnections()))().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async isGone(): Promise<boolean> {
    return (await this.#server?.hasCrashed()) ?? false;
  }

  async #refusesConnections(): Promise<boolean> {
    try {
      const knock = await WireConnection.open(clientConfig(this.address, {}, 2000));
      await knock.close();
      return false;
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      return code === 'ECONNREFUSED' || code === '57P03';
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const scratches = [...this.#scratches];
    if (this.#server !== undefined) {
      // The data goes with the server.
      await Promise.allSettled(scratches.map((scratch) => scratch.closeConnections()));
      await this.#server.stop();
      return;
    }
    const dropped = await Promise.allSettled(scratches.map((scratch) => scratch.drop()));
    const failed = dropped.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
