/**
 * When two names are one. The parser has already folded what a dialect folds while reading (PostgreSQL: unquoted names to lower
 * case, quoted ones kept), so a name in a tree is compared by a key:
 *
 * | dialect  | columns                  | tables |
 * |----------|--------------------------|---|
 * | postgres | as they stand            | as they stand |
 * | sqlite   | without case, ASCII only | the same |
 * | duckdb   | without case, ASCII only | the same; quotes keep the spelling, not the case's meaning |
 * | mysql    | without case             | depends on the server (`lower_case_table_names`): by their spelling if one of it exists, else without case |
 */
import type { Dialect } from '../sql/index.js';

/** What columns of one name have in common. */
export function columnKey(name: string, dialect: Dialect): string {
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

/** What tables of one name have in common, where nothing is known of the tables there are; `TableMap` knows more. */
export function tableKey(name: string, dialect: Dialect): string {
  return columnKey(name, dialect);
}

const upperCase = /[A-Z]+/g;

function asciiLower(name: string): string {
  return name.replace(upperCase, (letters) => letters.toLowerCase());
}

/** Tables by name. A second table whose name differs by case alone (MySQL) is kept beside the first. */
export class TableMap<T> {
  readonly #byKey = new Map<string, T>();
  readonly #spelt = new Map<string, T>();

  constructor(private readonly dialect: Dialect) {}

  /** Adds a table and returns the name by which it goes from now on. */
  set(name: string, table: T): string {
    const key = tableKey(name, this.dialect);
    if (this.dialect !== 'mysql') {
      this.#byKey.set(key, table);
      return key;
    }
    const known = this.#byKey.get(key);
    this.#spelt.set(name, table);
    if (known === undefined) this.#byKey.set(key, table);
    return known === undefined ? key : name;
  }

  get(name: string): T | undefined {
    return this.#spelt.get(name) ?? this.#byKey.get(tableKey(name, this.dialect));
  }
}
