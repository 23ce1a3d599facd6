/**
 * Tables by name. Whether MySQL tells `T` from `t` depends on the server (`lower_case_table_names`), so a table goes by its
 * spelling if one of it exists, else without case; the other dialects' names are one or not by `nameKey` alone.
 */
import { type Dialect, nameKey } from '../sql/index.js';

/** Tables by name. A second table whose name differs by case alone (MySQL) is kept beside the first. */
export class TableMap<T> {
  readonly #byKey = new Map<string, T>();
  readonly #spelt = new Map<string, T>();

  constructor(private readonly dialect: Dialect) {}

  /** Adds a table and returns the name by which it goes from now on. */
  set(name: string, table: T): string {
    const key = nameKey(name, this.dialect);
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
    return this.#spelt.get(name) ?? this.#byKey.get(nameKey(name, this.dialect));
  }
}
