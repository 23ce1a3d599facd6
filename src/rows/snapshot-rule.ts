/**
 * Which statement of a transaction fixes what its plain reads see: the contract's pivot (Pisco §6.2.1).
 *
 * | pivot             | certainly | likely |
 * |-------------------|---|---|
 * | `begin`           | BEGIN, of Turso only BEGIN CONCURRENT; else the first statement on data | any other BEGIN; any other statement |
 * | `first-statement` | the first statement on a table; MyRocks: the first query or write that certainly met a row | any other statement but control |
 * | `first-read`      | the first plain SELECT that certainly looked at a table | any other plain SELECT |
 *
 * Perhaps: a SET, a subquery of a write. Who must be sound takes all of them into account, who wants the likeliest order the
 * first that is at least likely.
 */
import type { Mechanism } from '../contracts/index.js';
import type { Operation } from '../histories/index.js';
import { classifyStatement, type Dialect } from '../sql/index.js';

export type Likelihood = 'certainly' | 'likely' | 'perhaps' | 'no';

export function fixesSnapshot(
  operation: Operation,
  pivot: Mechanism['pivot'],
  dialect: Dialect | undefined,
): Likelihood {
  const { kind, sql = '' } = operation;
  if (kind === 'begin') {
    if (pivot === 'begin')
      return deferred.test(sql) || (dialect === 'sqlite' && !concurrent.test(sql)) ? 'likely' : 'certainly';
    return /consistent\s+snapshot/i.test(sql) ? 'certainly' : 'no';
  }
  if (pivot === 'first-read') {
    if (!mayReadPlainly(operation, dialect)) return 'no';
    if (kind !== 'read' && (kind !== 'select' || isLocking(operation, dialect))) return 'perhaps';
    return kind === 'read' || looksAtTables(operation) ? 'certainly' : 'likely';
  }
  // SQLite, Turso, DuckDB and HSQLDB take none for what they need no table for.
  const byFirst = pivot === 'first-statement' || dialect === 'sqlite';
  if (byFirst && kind === 'select' && !namesTables(sql)) return 'likely';
  // MyRocks takes its snapshot when it first touches data, which a condition that can never hold does not.
  if (dialect === 'mysql' && dataKinds.has(kind)) return metRows(operation) ? 'certainly' : 'likely';
  if (dataKinds.has(kind)) return 'certainly';
  return controlKinds.has(kind) || kind === 'set' ? 'perhaps' : 'likely';
}

const dataKinds = new Set([
  'select',
  'insert',
  'update',
  'delete',
  'replace',
  'merge',
  'read',
  'write',
  'append',
]);

/** Turso's own form of BEGIN; the others, a plain one included, begin SQLite's transactions. */
const concurrent = /\bconcurrent\b/i;
const deferred = /\b(immediate|exclusive|deferred)\b/i;
const controlKinds = new Set(['begin', 'commit', 'rollback', 'savepoint', 'release', 'rollback-to']);
const selectWord = /\bselect\b/gi;

/** A subquery of a write, or of a locking read, can be the first consistent read. */
function mayReadPlainly(operation: Operation, dialect: Dialect | undefined): boolean {
  if (controlKinds.has(operation.kind)) return false;
  if (operation.kind === 'read' || operation.sql === undefined) return true;
  const selects = operation.sql.match(selectWord)?.length ?? 0;
  if (operation.kind === 'select') return !isLocking(operation, dialect) || selects > 1;
  return selects > 0 || !dataKinds.has(operation.kind);
}

const fromWord = /\bfrom\b/gi;
/**
 * No condition at all, or one column compared with a small number: nothing an optimizer could call impossible. MySQL does so with what
 * is below zero in an UNSIGNED column.
 */
const possible = String.raw`\sfrom\s+[\w."\x60]+(?:\s+where\s+(?!(?:null|true|false)\b)["\x60]?[a-z_][\w."\x60]*\s*(?:(?:=|<>|!=|<=|>=?)\s*[1-9]?\d|<\s*[1-9]\d?))?`;
const plainSearch = new RegExp(
  String.raw`^\s*select\s(?:[^()]*|\s*(?:count|sum|min|max|avg)\s*\(\s*[\w.*"\x60]+\s*\))${possible}(?:\s+order\s+by\s[^()]*?)?(?:\s+limit\s+[1-9]\d*)?\s*;?\s*$`,
  'i',
);

/** Whether every SELECT has a FROM, and no FROM is of a function or of constants. */
function namesTables(sql: string): boolean {
  if (/\bfrom\s+[\w."]+\s*\(|\bfrom\s*\(\s*values\b/i.test(sql)) return false;
  return (sql.match(selectWord)?.length ?? 0) <= (sql.match(fromWord)?.length ?? 0);
}

/** A list without calls, and thus without aggregates, which say something of no rows, too (`COUNT(*) = 0`). */
const plainList = /^\s*select\s[^()]*?\sfrom\b/i;

/**
 * Whether the engine certainly looked at a table. A condition that can never hold (`a = 1 AND a = 0`) is answered without
 * looking at anything, and then InnoDB takes no snapshot. Rows in the answer show that it did look, unless they may come
 * from a SELECT without FROM, or are what an aggregate says of no rows.
 */
function looksAtTables({ sql, rows, accesses }: Operation): boolean {
  if (sql === undefined || accesses?.some(({ mode }) => mode === 'read') === true) return true;
  if (rows !== undefined && rows.length > (plainList.test(sql) ? 0 : 1) && !/\bunion\b/i.test(sql))
    return namesTables(sql);
  return plainSearch.test(sql);
}

/** A query or a write that certainly found something in a table. */
function metRows(operation: Operation): boolean {
  const { kind, matched = 0 } = operation;
  if (kind === 'select') return looksAtTables(operation);
  return kind === 'read' || ((kind === 'update' || kind === 'delete') && matched > 0);
}

function isLocking(operation: Operation, dialect: Dialect | undefined): boolean {
  const sql = operation.sql ?? '';
  return /\bfor\b|\bshare\b/i.test(sql) && classifyStatement(sql, dialect).locking !== 'none';
}
