/** From the server's reply to the answer a case sees: row counts, and what became of the transaction. */
import { classifyStatement } from '../../sql/index.js';
import type { Answer } from '../target.js';
import { operationError } from './mysql-errors.js';
import { readRows } from './mysql-values.js';
import type { OkStatus, Reply } from './mysql-wire.js';

/** Statements that cannot change the schema: after anything else the scratch is rebuilt, not just refilled. */
const harmless =
  /^\s*(?:SELECT|INSERT|UPDATE|DELETE|REPLACE|BEGIN|COMMIT|ROLLBACK|START|SAVEPOINT|RELEASE|SHOW|EXPLAIN|DO|WITH|SET(?!\s+STATEMENT))\b/i;

export function mayChangeSchema(sql: string): boolean {
  return !harmless.test(sql);
}

/** The parts of an answer that do not depend on the session's state. */
export function readContent(reply: Reply, sql: string): Omit<Answer, 'transaction' | 'ended'> {
  if (reply.error !== undefined) return { error: operationError(reply.error, sql) };
  if (reply.fields !== undefined) {
    const rows = readRows(reply.fields, reply.rows ?? []);
    const content = { columns: reply.fields.map(({ name }) => name), rows };
    // INSERT, DELETE and REPLACE … RETURNING: a row for every row matched.
    if (!/^\s*(INSERT|DELETE|REPLACE)\b/i.test(sql)) return content;
    const matched = rows.length;
    return { ...content, matched, ...(!mayLeaveRows(sql) && { changed: matched }) };
  }
  return reply.status === undefined ? {} : countRows(sql, reply.status);
}

/**
 * Matched and changed rows. UPDATE reports both. Where an INSERT may update or a REPLACE delete, the server
 * counts such a row twice, so the number of records stands for what was matched; whether anything was changed
 * it does not say: TiDB writes nothing for a REPLACE by an equal row.
 */
export function countRows(sql: string, status: OkStatus): Pick<Answer, 'matched' | 'changed'> {
  const word = /^\s*(INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i.exec(sql)?.[1]?.toUpperCase();
  if (word === undefined) return {};
  const records = Number(/Records: (\d+)/.exec(status.info)?.[1] ?? Math.min(1, status.affectedRows));
  if (mayLeaveRows(sql)) return { matched: records };
  const updated = /Changed: \d+/.test(status.info);
  return { matched: status.affectedRows, changed: updated ? status.changedRows : status.affectedRows };
}

function mayLeaveRows(sql: string): boolean {
  return /^\s*(REPLACE\b|INSERT\b.*\bON\s+DUPLICATE\s+KEY\b)/is.test(sql);
}

/** What a statement did to the transaction that was open before it; undefined when it is still the same one. */
export function endOf(sql: string, failed: Answer['error'], stillOpen: boolean): Answer['ended'] {
  const { kind } = classifyStatement(sql, 'mysql');
  if (failed === undefined) {
    if (kind === 'commit' || kind === 'rollback') return kind;
    // BEGIN commits what was open and opens another.
    if (kind === 'begin') return 'commit';
    if (stillOpen) return undefined;
    return /^\s*(CALL|EXECUTE|XA)\b/i.test(sql) ? 'unknown' : 'commit';
  }
  if (stillOpen) return undefined;
  switch (kind) {
    // The implicit commit comes before the work that failed.
    case 'ddl':
    case 'begin':
      return 'commit';
    case 'select':
    case 'insert':
    case 'update':
    case 'delete':
    case 'replace':
    case 'rollback':
      return 'rollback';
    default:
      return failed.class === 'deadlock' || failed.class === 'serialization' ? 'rollback' : 'unknown';
  }
}

/** The same when the connection was lost: what was not being committed is rolled back. */
export function endOfLost(sql: string): Answer['ended'] {
  const { kind } = classifyStatement(sql, 'mysql');
  const safe = [
    'select',
    'insert',
    'update',
    'delete',
    'replace',
    'rollback',
    'savepoint',
    'release',
    'rollback-to',
  ];
  return safe.includes(kind) ? 'rollback' : 'unknown';
}
