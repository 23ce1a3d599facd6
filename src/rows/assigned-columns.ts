/**
 * Which columns do statements set after a row is there? UPDATE, upserts and MERGE; of text that is not understood every word
 * may be such a column, of any table.
 *
 * Histories have millions of statements of few shapes: those that mention no column in question are not parsed, and of those
 * that differ in integers alone one is.
 */
import type { Operation } from '../histories/index.js';
import {
  type Assignment,
  type Dialect,
  foldName,
  nameKey,
  type Statement,
  shapeParserOf,
} from '../sql/index.js';

/** A statement sent after the set-up. */
export interface SentStatement {
  readonly kind: Operation['kind'];
  readonly sql?: string | undefined;
  readonly outcome?: Operation['outcome'];
  readonly accesses?: Operation['accesses'];
}

const integers = /(?<![\w.$@:?])\d{1,15}(?![\w.])/g;

const texts = /'[^'\\]*'/g;

const words = /[\p{L}_][\p{L}\p{N}_$]*/gu;

/** A CTE may assign columns before a DELETE, too. */
const mayAssign: ReadonlySet<SentStatement['kind']> = new Set(['update', 'insert', 'merge', 'delete']);

export class AssignedColumns {
  readonly #byTable = new Map<string, Set<string>>();
  readonly #anywhere = new Set<string>();
  readonly #known = new Set<string>();

  constructor(
    private readonly statements: readonly SentStatement[],
    private readonly dialect: Dialect,
  ) {}

  /** Learns of all statements that mention one of these columns. */
  ask(columns: Iterable<string>): void {
    const names = [...columns].filter((name) => !this.#known.has(nameKey(name, this.dialect)));
    if (names.length === 0) return;
    for (const name of names) this.#known.add(nameKey(name, this.dialect));
    const escaped = [...new Set(names)].map((name) => name.replaceAll(/[^\w]/g, '\\$&'));
    const mentions = new RegExp(`(?<!\\w)(${escaped.join('|')})(?!\\w)`, 'i');
    const seen = new Set<string>();
    for (const { kind, sql } of this.statements) {
      if (sql === undefined || !mayAssign.has(kind)) continue;
      if (kind === 'delete' && !/^\W*with\b/i.test(sql)) continue;
      if (kind !== 'update' && kind !== 'merge' && !/\bset\b|\bupdate\b/i.test(sql)) continue;
      const where = kind === 'update' ? sql.search(/\bwhere\b/i) : -1;
      const head = where < 0 || /['"`(]/.test(sql.slice(0, where)) ? sql : sql.slice(0, where);
      if (!mentions.test(head)) continue;
      const shape = head.replace(integers, '0').replace(texts, "''");
      if (seen.has(shape)) continue;
      seen.add(shape);
      this.#look(shapeParserOf(this.dialect).parse(sql).statement, sql);
    }
  }

  /** Whether some statement sets this column of the table. */
  has(table: string, column: string): boolean {
    this.ask([column]);
    const key = nameKey(column, this.dialect);
    return this.#anywhere.has(key) || this.#byTable.get(nameKey(table, this.dialect))?.has(key) === true;
  }

  #look(statement: Statement, sql: string): void {
    for (const { statement: nested } of ('with' in statement && statement.with?.ctes) || [])
      if (nested.type !== 'select') this.#look(nested, sql);
    const isSingle =
      statement.type === 'update' &&
      statement.table.type === 'table' &&
      (statement.moreTables?.length ?? 0) === 0;
    if (isSingle && statement.table.type === 'table') this.#add(statement.table.name, statement.set);
    else if (statement.type === 'insert') this.#add(statement.table.name, statement.conflict?.set ?? []);
    else if (statement.type === 'merge')
      this.#add(
        statement.table.name,
        statement.whens.flatMap(({ action }) => (action.type === 'update' ? action.set : [])),
      );
    // In quotes or not, nobody knows.
    else
      for (const word of sql.match(words) ?? [])
        for (const name of [word, foldName(word, this.dialect)])
          this.#anywhere.add(nameKey(name, this.dialect));
  }

  #add(table: string, set: readonly Assignment[]): void {
    const key = nameKey(table, this.dialect);
    const columns = this.#byTable.get(key) ?? new Set<string>();
    this.#byTable.set(key, columns);
    for (const { columns: names } of set) for (const name of names) columns.add(nameKey(name, this.dialect));
  }
}
