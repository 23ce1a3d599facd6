/**
 * `isolde fleet serve --local`: a PostgreSQL of our own as the meeting point. Unlike the private servers that hunts run on it keeps what it
 * was told: its data stay in a folder and are flushed to the disk with every commit.
 */
import { resolve } from 'node:path';
import type { PrivateServer } from '../targets/postgres/index.js';

export interface LocalServer {
  /** With the password of its superuser. */
  readonly url: string;
  readonly server: PrivateServer;
}

/** More than the usual 100: every worker has a connection. */
const connections = 1_200;

export async function startLocalServer(
  folder: string | undefined,
  settings: Readonly<Record<string, string>> = {},
): Promise<LocalServer> {
  const { startPostgresServer } = await import('../targets/postgres/index.js');
  const server = await startPostgresServer({
    settings: {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      shared_buffers: '64MB',
      deadlock_timeout: '1s',
      max_connections: String(connections),
      ...settings,
    },
    startTimeoutMs: 60_000,
    ...(folder !== undefined && { keepIn: resolve(folder) }),
  });
  const { user, password } = server.login;
  return {
    url: `postgres://${user}:${encodeURIComponent(password)}@${server.host}:${server.port}/postgres`,
    server,
  };
}
