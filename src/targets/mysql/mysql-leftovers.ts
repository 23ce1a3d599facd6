/**
 * Scratches on a server of the family, told by the mark in them: the comment of the database where the engine has such comments
 * (MariaDB 10.5), else the comment of a table in it. In use while somebody holds the user lock of the database's name.
 */
import { IsoldeError } from '../../errors.js';
import { type FoundScratch, madeAt } from '../scratch-mark.js';
import type { Reply } from './mysql-wire.js';

/** The table that carries the mark where databases cannot. */
export const markTable = 'isolde_mark';

/** The statements that make a marked, empty database. */
export function createDatabase(namespace: string, mark: string, hasComments: boolean): readonly string[] {
  const create = `CREATE DATABASE ${namespace} CHARACTER SET utf8mb4`;
  return hasComments
    ? [`${create} COMMENT '${mark}'`]
    : [create, `CREATE TABLE ${namespace}.${markTable} (made INT) COMMENT = '${mark}'`];
}

export type Ask = (sql: string) => Promise<Reply>;

export async function listScratches(ask: Ask, hasComments: boolean): Promise<readonly FoundScratch[]> {
  const [table, name, comment, more] = hasComments
    ? ['SCHEMATA', 'SCHEMA_NAME', 'SCHEMA_COMMENT', '']
    : ['TABLES', 'TABLE_SCHEMA', 'TABLE_COMMENT', ` AND TABLE_NAME = '${markTable}'`];
  const { rows = [] } = await checked(
    ask,
    `SELECT ${name}, ${comment}, IS_USED_LOCK(${name}) FROM information_schema.${table} ` +
      `WHERE ${name} LIKE 'isolde\\_%'${more} ORDER BY 1`,
  );
  return rows.flatMap(([namespace, mark, user]) => {
    const made = madeAt(String(namespace), mark?.toString());
    return made === undefined
      ? []
      : [{ namespace: String(namespace), madeAt: made, inUse: user !== null && user !== undefined }];
  });
}

export async function dropScratch(ask: Ask, hasComments: boolean, namespace: string): Promise<void> {
  const found = await listScratches(ask, hasComments);
  if (found.some((each) => each.namespace === namespace)) await checked(ask, `DROP DATABASE ${namespace}`);
}

async function checked(ask: Ask, sql: string): Promise<Reply> {
  const reply = await ask(sql);
  if (reply.error === undefined) return reply;
  throw new IsoldeError('target', `The server refuses: ${reply.error.message}\n  ${sql}`);
}
