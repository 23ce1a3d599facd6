/**
 * Where a node of a Galera cluster stands in the order of commits, which is one for all nodes: the number of the last write set that it has
 * committed. A node has come as far as another one when its own number is as high.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { IsoldeError } from '../../errors.js';
import type { MysqlServer } from './mysql-server.js';

const pauseMs = 1;

export async function readPosition(server: MysqlServer): Promise<string> {
  const { committed, problem } = await lastCommitted(server);
  if (committed !== undefined) return String(committed);
  throw new IsoldeError('target', `The server is no node of a Galera cluster, or not ready: ${problem}`);
}

/** A node that has just joined is not ready until it has come as far as the others were then. */
export async function awaitPosition(server: MysqlServer, position: string, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const { committed, problem } = await lastCommitted(server);
    if (committed !== undefined && committed >= Number(position)) return;
    if (performance.now() > deadline) {
      const why = problem ?? `it has come to ${committed}`;
      throw new IsoldeError(
        'target',
        `The node has not committed write set ${position} within ${limitMs} ms: ${why}`,
      );
    }
    await delay(pauseMs);
  }
}

async function lastCommitted(
  server: MysqlServer,
): Promise<{ readonly committed?: number; readonly problem?: string }> {
  const { rows = [], error } = await server.askMonitor(
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_last_committed')",
  );
  const status = new Map(rows.map(([name, value]) => [name?.toString(), value?.toString()]));
  const ready = status.get('wsrep_ready');
  if (ready !== 'ON') return { problem: error?.message ?? `wsrep_ready is ${ready ?? 'not known'}` };
  return { committed: Number(status.get('wsrep_last_committed')) };
}
