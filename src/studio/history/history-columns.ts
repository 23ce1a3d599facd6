/**
 * A history as columns: what a page draws of it, in some 150 bytes for each operation, so that a million of them need little memory
 * and every window of them is found by looking through arrays.
 *
 * Places on the axis are nanoseconds where the history has times, else positions. `order` lists operations by where they begin; for
 * each block of `blockSize` of them, `blockEnds` holds where the last one ends, so that an operation that began long before a window
 * and reaches into it is found without looking at all that came before.
 */
import type { Operation } from '../../histories/index.js';
import type { RowNames } from './named-rows.js';
import { NumberColumn, TextColumn } from './text-column.js';

export const blockSize = 1024;

/** Bits of `flags`. */
export const flag = { failed: 1, unknown: 2, commits: 4, rollsBack: 8, blocked: 16, unanswered: 32 } as const;

export interface HistoryColumns {
  readonly count: number;
  readonly sessions: readonly string[];
  /** Whether the axis is time. */
  readonly timed: boolean;
  readonly span: { readonly from: number; readonly to: number };
  readonly session: Int32Array;
  /** Position among the transactions, in the order they first appear. */
  readonly transaction: Int32Array;
  readonly transactionCount: number;
  readonly transactionName: (transaction: number) => string;
  readonly kinds: readonly string[];
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly statement: (operation: number) => string;
  readonly result: (operation: number) => string;
  /** Rows and keys of operation `i`: `objects[objectOffsets[i] … objectOffsets[i + 1] - 1]`. */
  readonly objectOffsets: Int32Array;
  readonly objects: Int32Array;
  readonly objectNames: readonly string[];
  readonly order: Int32Array;
  readonly blockEnds: Float64Array;
  /** What a reader should know: that the file is cut off, that texts are left out. */
  readonly notes: readonly string[];
}

/** What a column holds of one operation. */
export interface ColumnEntry {
  readonly session: number;
  readonly transaction: number;
  readonly kind: string;
  readonly flags: number;
  readonly start: number;
  readonly end: number;
  readonly statement: string;
  readonly result: string;
  readonly objects: readonly string[];
}

const longest = { statement: 1000, result: 300 };

export class ColumnsBuilder {
  readonly #session = new NumberColumn((length) => new Int32Array(length));
  readonly #transaction = new NumberColumn((length) => new Int32Array(length));
  readonly #kind = new NumberColumn((length) => new Uint8Array(length));
  readonly #flags = new NumberColumn((length) => new Uint8Array(length));
  readonly #start = new NumberColumn((length) => new Float64Array(length));
  readonly #end = new NumberColumn((length) => new Float64Array(length));
  readonly #offsets = new NumberColumn((length) => new Int32Array(length));
  readonly #objects = new NumberColumn((length) => new Int32Array(length));
  readonly #statements = new TextColumn();
  readonly #results = new TextColumn();
  readonly #kinds = new Map<string, number>();
  readonly #objectIds = new Map<string, number>();

  constructor(private readonly sessions: readonly string[]) {}

  get count(): number {
    return this.#session.count;
  }

  add({ session, transaction, kind, flags, start, end, statement, result, objects }: ColumnEntry): void {
    this.#session.push(session);
    this.#transaction.push(transaction);
    this.#kind.push(numberIn(this.#kinds, kind));
    this.#flags.push(flags);
    this.#start.push(start);
    this.#end.push(end);
    this.#statements.push(cut(statement, longest.statement));
    this.#results.push(cut(result, longest.result));
    this.#offsets.push(this.#objects.count);
    for (const object of objects) this.#objects.push(numberIn(this.#objectIds, object));
  }

  build(facts: {
    readonly timed: boolean;
    readonly transactionCount: number;
    readonly transactionName: (transaction: number) => string;
    readonly notes: readonly string[];
  }): HistoryColumns {
    this.#offsets.push(this.#objects.count);
    const count = this.count;
    const [start, end] = [this.#start.take(), this.#end.take()];
    const span = spanOf(start, end);
    // What was never answered lasts to the end.
    for (let i = 0; i < count; i++) if (!Number.isFinite(end[i]!)) end[i] = span.to;
    const order = orderOf(start);
    const whole = this.#statements.isWhole && this.#results.isWhole;
    return {
      ...facts,
      ...{ count, span, start, end, order },
      sessions: this.sessions,
      session: this.#session.take(),
      transaction: this.#transaction.take(),
      kinds: [...this.#kinds.keys()],
      kind: this.#kind.take(),
      flags: this.#flags.take(),
      statement: this.#statements.take(),
      result: this.#results.take(),
      objectOffsets: this.#offsets.take(),
      objects: this.#objects.take(),
      objectNames: [...this.#objectIds.keys()],
      blockEnds: blockEndsOf(order, end),
      notes: whole
        ? facts.notes
        : [...facts.notes, 'the texts of some operations are not kept: together they are too large'],
    };
  }
}

/** What an operation of an SQL history looks like in columns, for a transaction that has this position. */
export function entryOf(
  operation: Operation,
  transaction: number,
  { result, names }: { readonly result: (operation: Operation) => string; readonly names: RowNames },
): ColumnEntry {
  const { session, kind, start, end, outcome, ends, blocked, sql } = operation;
  return {
    ...{ session, transaction, kind, start },
    end: end ?? Number.POSITIVE_INFINITY,
    flags:
      (outcome === 'error' ? flag.failed : 0) |
      (outcome === 'unknown' ? flag.unknown : 0) |
      (ends === 'commit' ? flag.commits : 0) |
      (ends === 'rollback' ? flag.rollsBack : 0) |
      (blocked === true ? flag.blocked : 0) |
      (end === null ? flag.unanswered : 0),
    statement: sql ?? kind,
    result: result(operation),
    objects: names.of(operation),
  };
}

function numberIn(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}

function spanOf(start: Float64Array, end: Float64Array): { readonly from: number; readonly to: number } {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < start.length; i++) {
    from = Math.min(from, start[i]!);
    to = Math.max(to, start[i]!, Number.isFinite(end[i]!) ? end[i]! : start[i]!);
  }
  if (start.length === 0) return { from: 0, to: 1 };
  return { from, to: Math.max(to, from + 1) };
}

function orderOf(start: Float64Array): Int32Array {
  const order = Int32Array.from(start, (_, i) => i);
  let sorted = true;
  for (let i = 1; i < start.length && sorted; i++) sorted = start[i - 1]! <= start[i]!;
  return sorted ? order : order.sort((a, b) => start[a]! - start[b]! || a - b);
}

function blockEndsOf(order: Int32Array, end: Float64Array): Float64Array {
  const ends = new Float64Array(Math.ceil(order.length / blockSize)).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < order.length; i++) {
    const block = Math.floor(i / blockSize);
    ends[block] = Math.max(ends[block]!, end[order[i]!]!);
  }
  return ends;
}
