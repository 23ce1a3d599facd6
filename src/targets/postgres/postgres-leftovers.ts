/**
 * Scratches on a server, told by the comment on their schema, or on the one beside it where only that was left; in use while somebody holds
 * their advisory lock.
 */
import { IsoldeError } from '../../errors.js';
import { quoteText } from '../../sql/index.js';
import { type FoundScratch, madeAt } from '../scratch-mark.js';
import { useKey } from './postgres-scratch.js';
import type { WireConnection, WireReply } from './wire-connection.js';

export async function listScratches(connection: WireConnection): Promise<readonly FoundScratch[]> {
  const { rows = [] } = await run(
    connection,
    `SELECT n.name, n.mark, EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory'
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND l.classid = ${useKey} AND l.objid = (hashtext(n.name)::bigint & 4294967295)::oid)
     FROM (SELECT regexp_replace(nspname, '_copy$', '') AS name, obj_description(oid, 'pg_namespace') AS mark
       FROM pg_namespace WHERE nspname LIKE 'isolde\\_%') n ORDER BY 1`,
  );
  const found = new Map<string, FoundScratch>();
  for (const [name, mark, inUse] of rows) {
    const namespace = String(name);
    const made = madeAt(namespace, mark);
    if (made !== undefined) found.set(namespace, { namespace, madeAt: made, inUse: inUse === true });
  }
  return [...found.values()];
}

/** The schema and the one beside it that keeps the rows of a reset, as far as they carry the mark. */
export async function dropScratch(connection: WireConnection, namespace: string): Promise<void> {
  for (const schema of [namespace, `${namespace}_copy`]) {
    const { rows } = await run(
      connection,
      `SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = ${quoteText(schema, 'postgres')}`,
    );
    if (madeAt(namespace, rows?.[0]?.[0]) !== undefined)
      await run(connection, `DROP SCHEMA ${schema} CASCADE`);
  }
}

async function run(connection: WireConnection, sql: string): Promise<WireReply> {
  const reply = await connection.execute(sql);
  if (reply.error === undefined) return reply;
  throw new IsoldeError('target', `PostgreSQL refuses: ${reply.error.message}\n  ${sql}`);
}
