/** What the tests of this folder share: a server that plays the user's, and connections that stand beside Isolde. */
import { describe } from 'vitest';
import type { Outsider } from '../conformance/lab.case.js';
import type { Scratch, Session, SessionOptions, Target } from '../target.js';
import { postgresAvailable, postgresDriver } from './index.js';
import { classifyServerError } from './postgres-errors.js';
import { parseServerUrl } from './postgres-url.js';
import { type PrivateServer, startPostgresServer } from './private-server.js';
import { WireConnection } from './wire-connection.js';
import { WireSession } from './wire-session.js';

/** A suite that needs the server; without it, skipped with the reason, or failed where engines are required. */
export function describePostgres(title: string, suite: () => void): void {
  const missing = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : postgresAvailable();
  if (missing === undefined) describe(title, suite);
  else describe.skip(`${title} (${missing})`, suite);
}

export function startServer(settings: Readonly<Record<string, string>> = {}): Promise<PrivateServer> {
  return startPostgresServer({ settings, startTimeoutMs: 30_000 });
}

/** The URL under which a user would know the server. */
export function urlOf(
  { host, port, login }: PrivateServer,
  { user = login.user, password = login.password, database = 'postgres' } = {},
): string {
  return `postgres://${user}:${password}@${host}:${port}/${database}`;
}

/** A connection of the user's own. */
export async function connectOutsider(url: string): Promise<Outsider & { readonly id: number }> {
  const connection = await WireConnection.open({
    connectionString: parseServerUrl(url, { scheme: 'postgres', port: 5432 }).connectionString,
  });
  const alone = {
    classify: classifyServerError,
    hasCrashed: async () => false,
    interrupt: async () => {},
    forget: () => {},
  };
  return new WireSession(connection, alone, 0);
}

/** Runs statements as the user, who then leaves. */
export async function asUser(url: string, ...statements: readonly string[]): Promise<void> {
  const user = await connectOutsider(url);
  try {
    for (const sql of statements) {
      const { error } = await user.execute(sql);
      if (error !== undefined) throw new Error(`${sql}: ${error.message}`);
    }
  } finally {
    await user.close();
  }
}

/** A role without privileges in a database of its own, as a careful user would give us. */
export async function createOrdinaryUser(server: PrivateServer): Promise<string> {
  await asUser(
    urlOf(server),
    `CREATE ROLE tester LOGIN PASSWORD 'tester'`,
    'CREATE DATABASE shop OWNER isolde',
    'GRANT CREATE ON DATABASE shop TO tester',
  );
  await asUser(urlOf(server, { database: 'shop' }), 'GRANT CREATE, USAGE ON SCHEMA public TO tester');
  return urlOf(server, { user: 'tester', password: 'tester', database: 'shop' });
}

export function openSession(scratch: Scratch, options: Partial<SessionOptions> = {}): Promise<Session> {
  return scratch.openSession({
    level: 'read committed',
    statementTimeoutMs: 20_000,
    lockTimeoutMs: 10_000,
    ...options,
  });
}

/** The target at a URL, which takes `server` with it when it closes. */
export async function openOwning(url: string, server: PrivateServer): Promise<Target> {
  const target = await postgresDriver.open(url, {});
  return new Proxy(target, {
    get: (real, name) => {
      if (name === 'close') return () => real.close().finally(() => server.stop());
      const member = Reflect.get(real, name) as unknown;
      return typeof member === 'function' ? member.bind(real) : member;
    },
  });
}

/** The error a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Error)) throw new Error('it should have failed');
  return thrown;
}
