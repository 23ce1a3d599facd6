/**
 * Properties as generation actions (D4 §3): code that says not only what must hold but how to get there. It picks and
 * generates from the shadow state, and lists interactions; nothing is sent while it runs.
 *
 *     property('deleted rows are gone', ({ db, pick, gen, run, assert, that }) => {
 *       const t = pick(db.tables);
 *       const r = pick(t.rows);
 *       const p = gen.predicate(t, r);                        // true for r
 *       run(`DELETE FROM ${t} WHERE ${p}`);
 *       const left = run(`SELECT * FROM ${t} WHERE ${p}`);
 *       assert(that.lacks(left, r));
 *     });
 */
import { IsoldeError } from '../errors.js';
import type { ErrorClass } from '../histories/index.js';
import type { Row, Value } from '../sql/index.js';
import type { FaultKind } from './fault-kinds.js';
import type { Check, Count, OwnCheck, ResultId } from './interaction.js';

export interface Property {
  readonly name: string;
  /** What it states, in a sentence. */
  readonly says?: string;
  /** What one instance sends, for the workload targets; default one read. */
  readonly sends: Mix;
  readonly needs: PropertyNeeds;
  /**
   * Its assertions relate its own answers to each other and hold whatever the tables hold (NoREC, TLP). Only then may a
   * counterexample leave out what others wrote where the shadow state cannot be asked.
   */
  readonly anyState?: true;
  readonly act: (action: Action) => void;
}

/** Numbers of statements, or proportions. */
export interface Mix {
  readonly read: number;
  readonly write: number;
  readonly create: number;
}

export interface PropertyNeeds {
  /** Reads of one transaction come from one snapshot. */
  readonly snapshot?: true;
  readonly savepoints?: true;
  readonly transactions?: true;
  readonly fault?: FaultKind;
}

/** A table of the shadow state; in a template text it is its name. */
export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The rows of which every value is known. */
  readonly rows: readonly TableRow[];
  toString(): string;
}

export interface Column {
  readonly name: string;
  readonly type: string | undefined;
  toString(): string;
}

export interface TableRow {
  readonly table: string;
  /** In the order of the table's columns, as `SELECT *` shows them. */
  readonly values: Row;
  value(column: string): Value;
}

/** The answer a statement will have, to be named in assertions. */
export interface Result {
  readonly id: ResultId;
}

export interface Db {
  /** Tables whose rows are known. */
  readonly tables: readonly Table[];
}

export interface Gen {
  /** A new row for a table, not yet inserted. */
  row(table: Table): TableRow;
  /** The INSERT of a row. */
  insertOf(row: TableRow): string;
  /** A condition on a table's columns; with a row, one that is true for it. Printed in parentheses;
   * `qualified`: with the table's name before each column. */
  predicate(table: Table, row?: TableRow, options?: { readonly qualified?: boolean }): string;
  /** A query on a table, perhaps with others. */
  select(table: Table): string;
  insert(table: Table): string;
  update(table: Table): string;
  delete(table: Table): string;
  /** A name nothing has. */
  name(prefix: string): string;
  /** The statements that create a table of a new name. */
  table(): { readonly name: string; readonly create: readonly string[] };
}

export interface Meanwhile {
  /** The session that sends it; default the property's own. */
  readonly session?: number;
  /** This row stays as it is in its table. */
  readonly keep?: TableRow;
  /** Only statements that write. */
  readonly writes?: true;
  /** At most so many statements; default 2. */
  readonly most?: number;
}

/** What a property's code works with. */
export interface Action {
  readonly db: Db;
  /** One of these; where there is none the property has no instance now, and another is tried. */
  pick<T>(from: readonly T[]): T;
  chance(probability: number): boolean;
  between(low: number, high: number): number;
  readonly gen: Gen;
  /** Lists a statement of session 0, or of the session given. */
  run(sql: string, session?: number): Result;
  /** Lists a statement of which a failure is no accident: an assertion will ask. */
  attempt(sql: string, session?: number): Result;
  begin(session?: number): void;
  commit(session?: number): void;
  rollback(session?: number): void;
  assert(check: Check, says?: string): void;
  assume(check: Check, says?: string): void;
  fault(kind: FaultKind, session?: number): void;
  /** Harmless statements, which the shrinker may take out one by one. */
  meanwhile(options?: Meanwhile): void;
  /** Leaves: no instance can be made now. */
  giveUp(): never;
  readonly that: That;
}

/** What can be asserted or assumed. */
export interface That {
  same(left: Result, right: Result): Check;
  contains(result: Result, row: TableRow | Row): Check;
  lacks(result: Result, row: TableRow | Row): Check;
  /** The answer is not exactly these rows: what a bug once returned. */
  differs(result: Result, rows: readonly Row[]): Check;
  equal(left: Count, right: Count): Check;
  rows(result: Result): Count;
  trues(result: Result): Count;
  sum(...counts: readonly Count[]): Count;
  fails(result: Result, ...classes: readonly ErrorClass[]): Check;
  works(result: Result): Check;
  /** At least one of these statements fails: a conflict is noticed, by whichever. */
  oneFails(...results: readonly Result[]): Check;
  /** A write does not match so many rows: what a bug once answered. */
  otherCount(result: Result, count: number): Check;
  predicted(result: Result): Check;
  /** A function of your own over the rows of these answers. */
  holds(check: OwnCheck, ...results: readonly Result[]): Check;
}

const valuesOf = (row: TableRow | Row): Row => ('table' in row ? row.values : row);

export const that: That = {
  same: (left, right) => ({ type: 'same', left: left.id, right: right.id }),
  contains: (result, row) => ({ type: 'contains', result: result.id, row: valuesOf(row) }),
  lacks: (result, row) => ({ type: 'lacks', result: result.id, row: valuesOf(row) }),
  differs: ({ id }, rows) => ({ type: 'differs', result: id, rows }),
  equal: (left, right) => ({ type: 'equal', left, right }),
  rows: ({ id }) => ({ rows: id }),
  trues: ({ id }) => ({ trues: id }),
  sum: (...sum) => ({ sum }),
  fails: ({ id }, ...classes) => ({
    type: 'fails',
    result: id,
    ...(classes.length > 0 && { classes }),
  }),
  works: ({ id }) => ({ type: 'works', result: id }),
  oneFails: (...results) => ({ type: 'one-fails', results: results.map(({ id }) => id) }),
  otherCount: ({ id }, count) => ({ type: 'other-count', result: id, count }),
  predicted: ({ id }) => ({ type: 'predicted', result: id }),
  holds: (holds, ...results) => ({ type: 'that', holds, results: results.map(({ id }) => id) }),
};

export interface PropertyOptions {
  readonly says?: string;
  readonly sends?: Partial<Mix>;
  readonly needs?: PropertyNeeds;
  readonly anyState?: true;
}

/** Makes a property. */
export function property(name: string, act: Property['act']): Property;
export function property(name: string, options: PropertyOptions, act: Property['act']): Property;
export function property(
  name: string,
  second: PropertyOptions | Property['act'],
  third?: Property['act'],
): Property {
  const act = typeof second === 'function' ? second : third;
  const options = typeof second === 'function' ? {} : second;
  if (typeof name !== 'string' || name.trim() === '' || typeof act !== 'function')
    throw new IsoldeError('usage', 'a property needs a name and a function: property(name, (action) => …)');
  const { says, needs = {}, anyState } = options;
  const sends = { read: 0, write: 0, create: 0, ...(options.sends ?? { read: 1 }) };
  return { name, ...(says !== undefined && { says }), sends, needs, ...(anyState && { anyState }), act };
}

/** Whether something a file exports is a property. */
export function isProperty(thing: unknown): thing is Property {
  const maybe = thing as Partial<Property> | null;
  return typeof maybe === 'object' && typeof maybe?.act === 'function' && typeof maybe.name === 'string';
}
