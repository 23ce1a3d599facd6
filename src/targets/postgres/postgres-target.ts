/**
 * PostgreSQL as a target: a server of the user's, or a private one that lives as long as the target.
 *
 * On a private server the SQL of cases, set-up included, runs as a role that owns its scratches and nothing else: the server
 * itself then refuses files, programs, roles and other schemas. The superuser only creates and drops the scratches, asks who
 * waits, and cancels. On a user's server everything runs as the login the URL names.
 */
import { randomBytes } from 'node:crypto';
import type { Level } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import type { TargetStamp } from '../../histories/index.js';
import { ownMemoryBytes } from '../process-memory.js';
import type { FoundScratch } from '../scratch-mark.js';
import type {
  NodeTarget,
  OpenOptions,
  Scratch,
  Target,
  TargetFeatures,
  TargetLevel,
  TargetOpener,
  TargetReach,
} from '../target.js';
import { connectError } from './connect-error.js';
import type { ServerLogin } from './data-template.js';
import { dropScratch, listScratches } from './postgres-leftovers.js';
import { readReach } from './postgres-reach.js';
import { PostgresScratch, type ScratchContext } from './postgres-scratch.js';
import {
  clientConfig,
  type PrivateAddress,
  parsePostgresUrl,
  parseServerUrl,
  type ServerAddress,
} from './postgres-url.js';
import { valueSettings } from './postgres-values.js';
import { type PrivateServer, startPostgresServer } from './private-server.js';
import { ReplayPosition } from './replay-position.js';
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

/** A PostgreSQL server that may be one of several. */
export interface PostgresNode extends NodeTarget {
  isStandby(): Promise<boolean>;
}

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
  if (address.kind === 'server') return openUserServer(address, options);
  return openPrivateServer(await startPrivate(address, options), {
    login: newCaseLogin(),
    shown: address.shown,
  });
}

/** A server of the user's. */
export function openUserServer(address: ServerAddress, options: OpenOptions): Promise<PostgresNode> {
  const connectTimeoutMs = options.connectTimeoutMs ?? defaultConnectTimeoutMs;
  return openServer({ address, shown: address.shown, connectTimeoutMs });
}

/** Starts a server for a URL that names none; `follows`: a standby of that one. */
export async function startPrivate(
  { binaries, settings }: Pick<PrivateAddress, 'binaries' | 'settings'>,
  options: OpenOptions,
  follows?: PrivateServer,
): Promise<PrivateServer> {
  await loadPg();
  return startPostgresServer({
    binaries,
    packageFolder: options.packageFolder,
    settings,
    scratchFolder: options.scratchFolder,
    startTimeoutMs,
    follows,
  });
}

/** The role that runs the SQL of cases on private servers. */
export function newCaseLogin(): ServerLogin {
  return { user: 'isolde_case', password: randomBytes(18).toString('base64url') };
}

export interface PrivateOptions {
  readonly login: ServerLogin;
  /** The role has come from the server that this one follows. */
  readonly exists?: boolean;
  readonly shown: string;
}

/** A server that was started for us, which ends with the target. */
export async function openPrivateServer(
  server: PrivateServer,
  { login, exists = false, shown }: PrivateOptions,
): Promise<PostgresNode> {
  try {
    return await openServer({
      address: privateAddress(server, server.login),
      cases: { address: privateAddress(server, login), exists, ...login },
      shown,
      connectTimeoutMs: defaultConnectTimeoutMs,
      server,
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function privateAddress({ host, port }: PrivateServer, { user, password }: ServerLogin): ServerAddress {
  const url = `postgres://${user}:${password}@${host}:${port}/postgres?sslmode=disable`;
  return parseServerUrl(url, { scheme: 'postgres', port });
}

interface ServerOptions {
  readonly address: ServerAddress;
  /** The role that runs the SQL of cases, which is created unless it exists; absent: the login of `address` itself. */
  readonly cases?: ServerLogin & { readonly address: ServerAddress; readonly exists: boolean };
  readonly shown: string;
  readonly connectTimeoutMs: number;
  readonly server?: PrivateServer;
}

async function openServer(options: ServerOptions): Promise<PostgresNode> {
  const connectAt = (address: ServerAddress, settings: Readonly<Record<string, string>>) =>
    WireConnection.open(clientConfig(address, settings, options.connectTimeoutMs)).catch((error) => {
      throw connectError(error, address);
    });
  const connection = await connectAt(options.address, {});
  try {
    const about = await describeServer(connection);
    if (options.cases?.exists === false) await createCaseRole(connection, options.cases, about.versionNumber);
    return new PostgresTarget(options, about, {
      cases: (settings) => connectAt(options.cases?.address ?? options.address, settings),
      control: (settings) => connectAt(options.address, settings),
    });
  } finally {
    await connection.close();
  }
}

/** May log in and use temporary tables. Skipping triggers while data is put back reaches nothing but its own tables. */
async function createCaseRole(
  connection: WireConnection,
  { user, password }: ServerLogin,
  versionNumber: number,
): Promise<void> {
  const { error } = await connection.execute(
    [
      // A server that crashes soon after must still know the role when it is back.
      'SET synchronous_commit = on',
      `CREATE ROLE ${user} LOGIN PASSWORD '${password}'`,
      'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
      ...(versionNumber >= 150_000 ? [`GRANT SET ON PARAMETER session_replication_role TO ${user}`] : []),
    ].join(';'),
  );
  if (error !== undefined) throw new IsoldeError('target', `No role for cases: ${error.message}`);
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
    throw new IsoldeError('usage', 'This server is CockroachDB: use a URL that begins with cockroach://');
  }
  const more = await connection.execute(
    `SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), ${names.join(', ')}`,
  );
  const error = reply.error ?? more.error;
  if (error !== undefined) {
    throw new IsoldeError('target', `The server does not answer like PostgreSQL: ${error.message}`);
  }
  const [isSuperuser, ...values] = more.rows![0]!;
  return {
    version: version!,
    versionNumber: Number(number),
    // Two for the control connections of a scratch.
    sessionLimit: Number(connections) - Number(reserved) - 2,
    isSuperuser: isSuperuser === true,
    settings: Object.fromEntries(stampedSettings.map((name, index) => [name, String(values[index])])),
  };
}

class PostgresTarget implements PostgresNode, ScratchContext {
  readonly name = 'postgres';
  readonly dialect = 'postgres';
  readonly levels = levels;
  readonly stamp: TargetStamp;
  readonly defaultLevel: Level;
  readonly features: TargetFeatures;
  readonly maySkipTriggers: boolean;
  readonly versionNumber: number;
  readonly address: ServerAddress;
  readonly caseRole: string | undefined;
  readonly #server: PrivateServer | undefined;
  readonly #scratches = new Set<PostgresScratch>();
  readonly #position: ReplayPosition;
  #asking: Promise<boolean> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    { address, cases, shown, server }: ServerOptions,
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
      oneRequest: about.versionNumber >= 110_000 ? ['block', 'procedure', 'text'] : ['block', 'text'],
      maxSessions: about.sessionLimit,
    };
    this.maySkipTriggers = cases === undefined ? about.isSuperuser : about.versionNumber >= 150_000;
    this.caseRole = cases?.user;
    this.versionNumber = about.versionNumber;
    this.address = address;
    this.#server = server;
    this.#position = new ReplayPosition(this.connect.control);
    if (server?.kill !== undefined) this.kill = server.kill;
    if (server !== undefined) this.memoryBytes = () => ownMemoryBytes(server.pid);
  }

  readonly kill?: () => Promise<void>;
  readonly memoryBytes?: () => number | undefined;

  /** A private server runs cases as a role that owns nothing else; of a user's server the login is asked about. */
  async reach(): Promise<TargetReach> {
    if (this.caseRole !== undefined) return { kind: 'scratch' };
    return this.#briefly((connection) => readReach(connection, this.address, this.versionNumber));
  }

  async foundScratches(): Promise<readonly FoundScratch[]> {
    return this.#briefly(listScratches);
  }

  async dropFound(namespace: string): Promise<void> {
    await this.#briefly((connection) => dropScratch(connection, namespace));
  }

  async #briefly<T>(work: (connection: WireConnection) => Promise<T>): Promise<T> {
    const connection = await this.connect.control({ ...valueSettings, search_path: 'pg_catalog' });
    return work(connection).finally(() => connection.close());
  }

  async createScratch(): Promise<Scratch> {
    if (this.#closing !== undefined) throw new IsoldeError('usage', 'The target was closed');
    const scratch = await PostgresScratch.create(this);
    this.#scratches.add(scratch);
    return scratch;
  }

  async joinScratch(namespace: string): Promise<Scratch> {
    const scratch = PostgresScratch.join(this, namespace);
    this.#scratches.add(scratch);
    return scratch;
  }

  position(): Promise<string> {
    return this.#position.position();
  }

  awaitPosition(position: string, limitMs: number): Promise<void> {
    return this.#position.awaitPosition(position, limitMs);
  }

  isStandby(): Promise<boolean> {
    return this.#position.isStandby();
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
    await this.#position.close();
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
