/**
 * Just enough of a statement's structure to break it on purpose. Everything works on tokens and answers
 * `undefined` for what it does not recognise: a fault that cannot be injected cleanly is not injected.
 */
import { type Catalog, firstColumn } from '../../rows/index.js';
import {
  classifyStatement,
  type Dialect,
  nameKey,
  type StatementClass,
  type Token,
  tokenize,
  writtenNameKey,
} from '../../sql/index.js';

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
  const target = writes ? writtenTable(tokens, dialect) : undefined;
  return { ...statement, sql, dialect, words, writes, ...(target !== undefined && { target }) };
}

function writtenTable(tokens: readonly Token[], dialect: Dialect): string | undefined {
  const verb = tokens.findIndex((token) => /^(insert|update|delete|replace|merge)$/i.test(token.text));
  let at = verb + 1;
  while (/^(into|from|or|ignore|only|low_priority|rollback|abort|fail)$/i.test(tokens[at]?.text ?? '')) at++;
  while (tokens[at + 1]?.text === '.') at += 2;
  const token = tokens[at];
  return token !== undefined && isName(token) ? writtenNameKey(token.text, dialect) : undefined;
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
  const tokens = tokenize(sql, dialect);
  const outer = outerPositions(tokens);
  const word = (position: number) => tokens[position]!.text.toLowerCase();
  const find = (name: string) => outer.find((position) => word(position) === name);
  if (outer.some((position) => /^(order|limit|returning|join|using|as)$/.test(word(position))))
    return undefined;
  const first = outer[0];
  const start = first === undefined ? undefined : word(first) === 'update' ? first : find('from');
  const end = tokens.length;
  const where = find('where') ?? end;
  const set = find('set') ?? where;
  if (start === undefined || (word(first!) === 'update' && (find('from') !== undefined || set === where)))
    return undefined;
  const between = (from: number, to: number) =>
    tokens
      .slice(from, to)
      .map((token) => token.text)
      .join('')
      .trim();
  const table = between(start + 1, set);
  if (!/^[^\s,]+$/.test(table)) return undefined;
  const assignments = splitAssignments(tokens.slice(set + 1, where));
  if (assignments === undefined) return undefined;
  return { table, assignments, where: where === end ? '1 = 1' : between(where + 1, end) };
}

function splitAssignments(tokens: readonly Token[]): Assignment[] | undefined {
  const assignments: Assignment[] = [];
  let depth = 0;
  let parts: string[] = [''];
  const flush = () => {
    assignments.push({ column: parts[0]!.trim(), expression: parts.slice(1).join('=').trim() });
    parts = [''];
  };
  for (const { text } of tokens) {
    if (text === '(') depth++;
    if (text === ')') depth--;
    if (text === ',' && depth === 0) flush();
    else if (text === '=' && depth === 0) parts.push('');
    else parts[parts.length - 1] += text;
  }
  if (tokens.length > 0) flush();
  return assignments.every(({ column, expression }) => /^[^\s(),]+$/.test(column) && expression !== '')
    ? assignments
    : undefined;
}

/** How many rows `INSERT … VALUES (…), (…)` brings; undefined for other forms. */
export function countInsertedRows(sql: string, dialect: Dialect): number | undefined {
  const tokens = significant(sql, dialect);
  const values = tokens.findIndex((token) => /^values$/i.test(token.text));
  if (values < 0) return undefined;
  let depth = 0;
  let rows = 0;
  for (const { text } of tokens.slice(values + 1)) {
    if (text === '(' && depth++ === 0) rows++;
    else if (text === ')') depth--;
    else if (depth === 0 && text !== ',') return undefined;
  }
  return rows;
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

/** The tables a set-up creates, as written. */
export function createdTables(setup: readonly string[], dialect: Dialect): string[] {
  return setup.flatMap((sql) => {
    const words = significant(sql, dialect);
    if (!/^create$/i.test(words[0]?.text ?? '')) return [];
    const at = words.findIndex((token) => /^table$/i.test(token.text));
    if (at < 0 || at > 2) return [];
    const name = words.slice(at + 1).find((token) => !/^(if|not|exists)$/i.test(token.text));
    return name === undefined ? [] : [name.text];
  });
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
