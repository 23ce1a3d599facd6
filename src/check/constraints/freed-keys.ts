/**
 * When the key of a row may have been freed: the statements that can do so, by the rows that their conditions name.
 *
 * A statement can free a row's key if it is an UPDATE that changes a column of the key, a DELETE, or anything that cannot be followed; and
 * if its condition does not name other rows by integers in the columns of their key or identity. What names the same columns stands
 * together, by the values: a row is looked up by its own, so that a question does not go through all statements.
 */
import { changesKey, columnConstants, type Interval, type Tx } from '../../rows/index.js';
import { type EvaluatedRow, nameKey, parseStatement } from '../../sql/index.js';
import type { DeclaredKey } from './declared.js';
import type { RunFacts, TableWrite } from './run-facts.js';
import { SpanIndex } from './span-index.js';

/** For columns, by position in the table, the integers of which a row must have one. Empty: it may be any row. */
export type NamedCells = ReadonlyMap<number, readonly number[]>;

/** A statement that names more combinations of values than these is looked at by itself. */
const mostNamed = 64;

/** The rows whose key a write may free; undefined: none. */
export function mayFree({ catalog }: RunFacts, key: DeclaredKey, write: TableWrite): NamedCells | undefined {
  const { operation, plan, tx } = write;
  const any: NamedCells = new Map();
  if (plan.type === 'insert' || operation.outcome === 'error' || tx.fate === 'aborted') return undefined;
  if (plan.type === 'upsert') return plan.effect === 'nothing' ? undefined : any;
  if (plan.type !== 'update' && plan.type !== 'delete') return any;
  const { dialect } = catalog;
  const statement = parseStatement(operation.sql!, dialect);
  if (statement.type !== 'update' && statement.type !== 'delete') return any;
  const { table, columns } = key;
  if (statement.type === 'update' && !changesKey(statement.set, columns, { ...table, dialect }))
    return undefined;
  const constants = columnConstants(statement.where, dialect);
  const named = new Map<number, readonly number[]>();
  for (const at of [...columns, ...table.identity]) {
    const asked = constants.get(nameKey(table.shape.columns[at]!.name, dialect));
    if (asked?.every(isInteger) === true) named.set(at, asked);
  }
  return named;
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

interface Freeing {
  readonly named: NamedCells;
  readonly span: Interval;
  readonly tx: Tx;
}

/** All that may free one key of rows of a table, gathered when somebody asks. */
export class FreedKeys {
  #groups: readonly SameColumns[] | undefined;

  constructor(
    private readonly facts: RunFacts,
    private readonly key: DeclaredKey,
  ) {}

  /** Whether the key of a row may have been freed at some moment of a span. */
  mayBeFreed(row: EvaluatedRow, span: Interval): boolean {
    this.#groups ??= this.#gather();
    return this.#groups.some((group) => group.meets(row, span));
  }

  #gather(): readonly SameColumns[] {
    const groups = new Map<string, SameColumns>();
    for (const write of this.facts.writesOf(this.key.table)) {
      const named = mayFree(this.facts, this.key, write);
      if (named === undefined) continue;
      const columns = [...named.keys()];
      const group = groups.get(columns.join()) ?? new SameColumns(columns);
      groups.set(columns.join(), group);
      group.add({ named, span: write.span, tx: write.tx });
    }
    return [...groups.values()];
  }
}

/** Statements that name the same columns. */
class SameColumns {
  readonly #all: Freeing[] = [];
  /** By the columns in which a row has an integer, and by the integers: what does not name other ones. */
  readonly #byColumns = new Map<string, NamedRows>();

  constructor(private readonly columns: readonly number[]) {}

  add(freeing: Freeing): void {
    this.#all.push(freeing);
  }

  meets(row: EvaluatedRow, span: Interval): boolean {
    // What a row has instead of an integer may be equal to one.
    const told = this.columns.filter((at) => isInteger(row[at]));
    const name = told.join();
    const rows = this.#byColumns.get(name) ?? new NamedRows(told, this.#all);
    this.#byColumns.set(name, rows);
    return rows.meets(row, span);
  }
}

/** Statements by the values they name in some columns. */
class NamedRows {
  readonly #byValues = new Map<string, SpanIndex<Tx>>();
  readonly #wide: Freeing[] = [];

  constructor(
    private readonly columns: readonly number[],
    all: readonly Freeing[],
  ) {
    for (const freeing of all) {
      const count = columns.reduce((product, at) => product * freeing.named.get(at)!.length, 1);
      if (columns.length > 1 && count > mostNamed) this.#wide.push(freeing);
      else
        for (const values of combinations(columns.map((at) => freeing.named.get(at)!)))
          this.#add(values, freeing);
    }
  }

  meets(row: EvaluatedRow, span: Interval): boolean {
    const values = this.columns.map((at) => row[at] as number);
    if (this.#byValues.get(values.join())?.meets(span) === true) return true;
    return this.#wide.some(
      ({ named, span: { start, end } }) =>
        start <= span.end &&
        end >= span.start &&
        this.columns.every((at, i) => named.get(at)!.includes(values[i]!)),
    );
  }

  #add(values: readonly number[], { span, tx }: Freeing): void {
    const name = values.join();
    const index = this.#byValues.get(name) ?? new SpanIndex<Tx>();
    this.#byValues.set(name, index);
    index.add(span, tx);
  }
}

/** One of each list, in every way. */
function combinations(lists: readonly (readonly number[])[]): number[][] {
  return lists.reduce<number[][]>(
    (made, list) => made.flatMap((start) => [...new Set(list)].map((value) => [...start, value])),
    [[]],
  );
}
