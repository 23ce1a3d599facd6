/**
 * When two names are one: the only rule of name folding. The parser has already folded what a dialect folds while reading
 * (PostgreSQL: unquoted names to lower case, quoted ones kept), so a name in a tree is compared by a key:
 *
 * | dialect  | columns                  | tables |
 * |----------|--------------------------|---|
 * | postgres | as they stand            | as they stand |
 * | sqlite   | without case, ASCII only | the same |
 * | duckdb   | without case, ASCII only | the same; quotes keep the spelling, not the case's meaning |
 * | mysql    | without case             | depends on the server (`lower_case_table_names`): see `TableMap` of rows/ |
 */
import type { Dialect } from './dialect.js';

/** What an unquoted name means: PostgreSQL folds it, the others keep the spelling. */
export function foldName(text: string, dialect: Dialect): string {
  return dialect === 'postgres' ? asciiLower(text) : text;
}

/** A quoted name without its quotes. */
export function unquoteName(text: string): string {
  const close = text.at(-1)!;
  return text.slice(1, -1).replaceAll(close + close, close);
}

/** What the spellings of one name have in common; of a name as it stands in a tree. */
export function nameKey(name: string, dialect: Dialect): string {
  switch (dialect) {
    case 'postgres':
      return name;
    case 'sqlite':
    case 'duckdb':
      return asciiLower(name);
    case 'mysql':
      return name.toLowerCase();
    default:
      return dialect satisfies never;
  }
}

/** The key of a name as it is written in a statement, quoted or not. */
export function writtenNameKey(text: string, dialect: Dialect): string {
  const quoted = /^(?:".*"|`.*`|\[.*\])$/s.test(text);
  return nameKey(quoted ? unquoteName(text) : foldName(text, dialect), dialect);
}

/** Whether two names are one in this dialect. */
export function sameName(a: string, b: string, dialect: Dialect): boolean {
  if (a === b) return true;
  if (dialect === 'postgres' || (dialect !== 'mysql' && a.length !== b.length)) return false;
  return nameKey(a, dialect) === nameKey(b, dialect);
}

/**
 * The position of the column that a name means; -1: there is none. `columns` as they stand in a tree.
 *
 * ```ts
 * columnOf([{ name: 'id' }, { name: 'V' }], 'v', 'duckdb'); // 1
 * ```
 */
export function columnOf(
  columns: readonly { readonly name: string }[],
  name: string,
  dialect: Dialect,
): number {
  return columns.findIndex((column) => sameName(column.name, name, dialect));
}

const upperCase = /[A-Z]+/g;

function asciiLower(name: string): string {
  return name.replace(upperCase, (letters) => letters.toLowerCase());
}
