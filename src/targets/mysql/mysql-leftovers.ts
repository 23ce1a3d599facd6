/**
 * Scratches on a server of the family, told by the mark in them: the comment of the database where the engine has such comments
 * (MariaDB 10.5), else the comment of a table in it. Between the database and that table somebody may kill us: an empty database without the table
 * is told by its name, whose last digits follow from the others. In use while somebody holds the user lock of the database's name; TiDB before 7
 * cannot tell who holds one, so there a connection of its own tries to take it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { IsoldeError } from '../../errors.js';
import { type FoundScratch, madeAt } from '../scratch-mark.js';
import type { Reply } from './mysql-wire.js';

/** The table that carries the mark where databases cannot. */
export const markTable = 'isolde_mark';

/** A name nobody else gives. */
export function newNamespace(): string {
  const digits = randomBytes(6).toString('hex');
  return `isolde_${digits}${checkDigits(digits)}`;
}

function isOurName(namespace: string): boolean {
  const [, digits, check] = /^isolde_([0-9a-f]{12})([0-9a-f]{4})$/.exec(namespace) ?? [];
  return digits !== undefined && checkDigits(digits) === check;
}

function checkDigits(digits: string): string {
  return createHash('sha256').update(`isolde scratch ${digits}`).digest('hex').slice(0, 4);
}

/** The statements that make a marked, empty database. */
export function createDatabase(namespace: string, mark: string, hasComments: boolean): readonly string[] {
  const create = `CREATE DATABASE ${namespace} CHARACTER SET utf8mb4`;
  return hasComments
    ? [`${create} COMMENT '${mark}'`]
    : [create, `CREATE TABLE ${namespace}.${markTable} (made INT) COMMENT = '${mark}'`];
}

/** How a server is asked. */
export interface LeftoverHost {
  /** Databases can have comments. */
  readonly hasDatabaseComments: boolean;
  askMonitor(sql: string): Promise<Reply>;
  /** One statement on a connection that holds no locks. */
  askApart(sql: string): Promise<Reply>;
}

/** The server has no such function. */
const noSuchFunction = 1305;

export async function listScratches(host: LeftoverHost): Promise<readonly FoundScratch[]> {
  const [table, name, comment, more] = host.hasDatabaseComments
    ? ['SCHEMATA', 'SCHEMA_NAME', 'SCHEMA_COMMENT', '']
    : ['TABLES', 'TABLE_SCHEMA', 'TABLE_COMMENT', ` AND TABLE_NAME = '${markTable}'`];
  const query = (used: string) =>
    `SELECT ${name}, ${comment}${used} FROM information_schema.${table} WHERE ${name} LIKE 'isolde\\_%'${more} ORDER BY 1`;
  const asked = await host.askMonitor(query(`, IS_USED_LOCK(${name})`));
  const tellsUsers = asked.error?.errno !== noSuchFunction;
  const { rows = [] } = tellsUsers ? checked(asked) : checked(await host.askMonitor(query('')));
  const found: FoundScratch[] = [];
  for (const [key, mark, user] of rows) {
    const namespace = String(key);
    const made = madeAt(namespace, mark?.toString());
    if (made === undefined) continue;
    const inUse = tellsUsers ? user !== null && user !== undefined : await isLocked(host, namespace);
    found.push({ namespace, madeAt: made, inUse });
  }
  return host.hasDatabaseComments ? found : [...found, ...(await listEmpty(host))];
}

/** Databases of ours with nothing in them, not even the mark. */
async function listEmpty(host: LeftoverHost): Promise<readonly FoundScratch[]> {
  const holds = ['TABLES WHERE TABLE', 'ROUTINES WHERE ROUTINE', 'EVENTS WHERE EVENT'].map(
    (what) => `AND NOT EXISTS (SELECT 1 FROM information_schema.${what}_SCHEMA = s.SCHEMA_NAME)`,
  );
  const { rows = [] } = checked(
    await host.askMonitor(
      `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA s WHERE SCHEMA_NAME LIKE 'isolde\\_%' ${holds.join(' ')} ORDER BY 1`,
    ),
  );
  const found: FoundScratch[] = [];
  for (const namespace of rows.map(([key]) => String(key)).filter(isOurName))
    found.push({ namespace, madeAt: undefined, inUse: await isLocked(host, namespace) });
  return found;
}

/** Anything but a lock that was granted counts as in use: nothing is dropped in doubt. */
async function isLocked(host: LeftoverHost, namespace: string): Promise<boolean> {
  const { rows } = await host.askApart(`SELECT GET_LOCK('${namespace}', 0)`);
  return rows?.[0]?.[0]?.toString() !== '1';
}

export async function dropScratch(host: LeftoverHost, namespace: string): Promise<void> {
  const found = await listScratches(host);
  if (found.some((each) => each.namespace === namespace))
    checked(await host.askMonitor(`DROP DATABASE ${namespace}`));
}

function checked(reply: Reply): Reply {
  if (reply.error === undefined) return reply;
  throw new IsoldeError('target', `The server refuses to tell or drop scratches: ${reply.error.message}`);
}
