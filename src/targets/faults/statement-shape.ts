/**
 * What faults ask of a statement in order to break it on purpose. Its tables, conditions and assignments are read from its tree; only
 * what takes something out of a SELECT and must leave all else as it was written (`stripLock`, `replaceTable`) works on tokens.
 * Everything answers `undefined` for what it does not recognise: a fault that cannot be injected cleanly is not injected.
 */
import { type Catalog, firstColumn } from '../../rows/index.js';
import {
  classifyStatement,
  type Dialect,
  type FromItem,
  nameKey,
  printExpression,
  printName,
  type StatementClass,
  shapeParserOf,
  statementFeatures,
  type TableReference,
  type Token,
  tokenize,
  writtenNameKey,
} from '../../sql/index.js';
import type { FaultSpec } from './fault-spec.js';

export interface Shape extends StatementClass {
  readonly sql: string;
  readonly dialect: Dialect;
  /** Every identifier and keyword in it, by its key (`writtenNameKey`). */
  readonly words: ReadonlySet<string>;
  /** The table an INSERT, UPDATE, DELETE, REPLACE or MERGE writes, by its key. */
  readonly target?: string;
  /** It changes rows. */
  readonly writes: boolean;
}

const writeKinds: readonly string[] = ['insert', 'update', 'delete', 'replace', 'merge'];
const reserved =
  /^(where|order|group|having|limit|union|except|intersect|join|inner|left|right|full|cross|natural|on|using|for|window|offset|fetch|lock|set|values|returning)$/i;

export function shapeOf(sql: string, dialect: Dialect): Shape {
  const statement = classifyStatement(sql, dialect);
  const tokens = significant(sql, dialect);
  const words = new Set(tokens.filter(isName).map(({ text }) => writtenNameKey(text, dialect)));
  const writes = writeKinds.includes(statement.kind);
  const target = writes ? writtenTable(sql, dialect) : undefined;
  return { ...statement, sql, dialect, words, writes, ...(target !== undefined && { target }) };
}

/** Of a statement that is not parsed: the first name that stands where tables stand. */
function writtenTable(sql: string, dialect: Dialect): string | undefined {
  const { statement } = shapeParserOf(dialect).parse(sql);
  const { writes } = statementFeatures(statement);
  // What common tables write comes first.
  const main = 'with' in statement && statement.with !== undefined ? writes.at(-1) : writes[0];
  return main === undefined ? undefined : nameKey(main.name, dialect);
}

export interface Assignment {
  readonly column: string;
  readonly expression: string;
}

/** `UPDATE t SET c = e, … [WHERE p]` or `DELETE FROM t [WHERE p]`, and nothing more. */
export interface SimpleWrite {
  readonly table: string;
  readonly assignments: readonly Assignment[];
  readonly where: string;
}

/** The parts of a simple UPDATE or DELETE. */
export function splitWrite(sql: string, dialect: Dialect): SimpleWrite | undefined {
  const { statement } = shapeParserOf(dialect).parse(sql);
  if (statement.type !== 'update' && statement.type !== 'delete') return undefined;
  const { table, where, with: common, mode, orderBy, limit, returning } = statement;
  if (common !== undefined || mode !== undefined || returning !== undefined) return undefined;
  if (orderBy.length > 0 || limit !== undefined || !isPlainTable(table)) return undefined;
  const others =
    statement.type === 'update'
      ? [...statement.from, ...(statement.moreTables ?? [])]
      : [...statement.using, ...(statement.targets ?? [])];
  if (others.length > 0) return undefined;
  const assignments: Assignment[] = [];
  for (const { columns, tuple, value } of statement.type === 'update' ? statement.set : []) {
    if (tuple === true || columns.length !== 1 || value.type === 'default') return undefined;
    const column = printName(columns[0]!, dialect);
    assignments.push({ column, expression: printExpression(value, dialect) });
  }
  const names = table.schema === undefined ? [table.name] : [table.schema, table.name];
  return {
    table: names.map((name) => printName(name, dialect)).join('.'),
    assignments,
    where: where === undefined ? '1 = 1' : printExpression(where, dialect),
  };
}

function isPlainTable(item: FromItem): item is TableReference {
  return item.type === 'table' && item.alias === undefined && item.only !== true && item.hint === undefined;
}

/** How many rows `INSERT … VALUES (…), (…)` brings; undefined for other forms. */
export function countInsertedRows(sql: string, dialect: Dialect): number | undefined {
  const { statement } = shapeParserOf(dialect).parse(sql);
  if (statement.type !== 'insert' || statement.source.type !== 'values') return undefined;
  if (statement.conflict !== undefined || statement.returning !== undefined) return undefined;
  return statement.source.rows.length;
}

/** A locking SELECT without its locking clause. */
export function stripLock(sql: string, dialect: Dialect): string {
  const tokens = tokenize(sql, dialect);
  const outer = outerPositions(tokens);
  const from = outer.find((position, i) => {
    const next = outer[i + 1];
    const two = `${tokens[position]!.text} ${next === undefined ? '' : tokens[next]!.text}`.toLowerCase();
    return /^for (update|share|no|key)$/.test(two) || two === 'lock in';
  });
  if (from === undefined) return sql;
  return tokens
    .slice(0, from)
    .map((token) => token.text)
    .join('')
    .trimEnd();
}

/** A SELECT that reads `derived` wherever it names the table, as written, in FROM or JOIN; undefined when it does nowhere. */
export function replaceTable(
  sql: string,
  table: string,
  derived: string,
  dialect: Dialect,
): string | undefined {
  const tokens = tokenize(sql, dialect);
  const key = writtenNameKey(table, dialect);
  let replaced = false;
  let previous = '';
  const texts = tokens.map((token, i) => {
    const before = previous;
    if (token.kind !== 'space' && token.kind !== 'comment') previous = token.text.toLowerCase();
    if (!isName(token) || writtenNameKey(token.text, dialect) !== key || !/^(from|join|,)$/.test(before))
      return token.text;
    const next = tokens.slice(i + 1).find((later) => later.kind !== 'space' && later.kind !== 'comment');
    if (next?.text === '.') return token.text;
    replaced = true;
    const aliased = next !== undefined && isName(next) && !reserved.test(next.text);
    return aliased ? `(${derived})` : `(${derived}) AS ${token.text}`;
  });
  return replaced ? texts.join('') : undefined;
}

/** A table of the set-up, as statements write it; undefined: it creates none that every session has. */
export function anyTableOf({ tables, dialect }: Catalog): string | undefined {
  const table = tables.find(({ definition }) => definition?.create.temporary !== true);
  return table === undefined ? undefined : printName(table.shape.name, dialect);
}

/** The columns, by their keys, that a key or an index of the set-up begins with. */
export function indexedColumns({ tables, dialect }: Catalog): ReadonlySet<string> {
  const indexes = tables.flatMap(({ definition }) => definition?.indexes ?? []);
  return new Set(indexes.flatMap((index) => firstColumn(index) ?? []).map((name) => nameKey(name, dialect)));
}

/** `a = b` that also holds between NULLs. */
export function sameness(a: string, b: string, dialect: Dialect): string {
  if (dialect === 'mysql') return `${a} <=> ${b}`;
  return dialect === 'sqlite' ? `${a} IS ${b}` : `${a} IS NOT DISTINCT FROM ${b}`;
}

/** The column that tells a table's rows apart, of a result's columns: what the fault's `key` names, else the first. */
export function keyColumn(
  { key }: FaultSpec,
  columns: readonly string[],
  dialect: Dialect,
): { readonly at: number; readonly written: string } {
  if (key === undefined) return { at: 0, written: printName(columns[0]!, dialect) };
  const wanted = writtenNameKey(key, dialect);
  const at = columns.findIndex((name) => nameKey(name, dialect) === wanted);
  return { at: Math.max(0, at), written: key };
}

function significant(sql: string, dialect: Dialect): Token[] {
  return tokenize(sql, dialect).filter((token) => token.kind !== 'space' && token.kind !== 'comment');
}

function outerPositions(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.flatMap((token, i) => {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    else if (depth === 0 && token.kind === 'word') return [i];
    return [];
  });
}

function isName(token: Token): boolean {
  return token.kind === 'word' || token.kind === 'quoted';
}
