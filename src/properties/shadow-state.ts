/**
 * The shadow state: what the database must hold, followed statement by statement, with what each open transaction sees.
 *
 * - A statement outside a transaction changes the committed tables.
 * - A transaction has tables of its own from BEGIN on, which its writes change. COMMIT puts those it wrote in place of the
 *   committed ones; ROLLBACK, a lost connection and a crash drop them; ROLLBACK TO goes back to those of the savepoint.
 * - When another session commits meanwhile, what the transaction sees of that table depends on the level's pivot: the
 *   snapshot it has, the new rows, or, where the moment of the snapshot or the effect of its writes is not certain,
 *   nothing that is known. Two transactions that wrote one table leave it unknown.
 *
 * It guides generation and it judges: "the shadow state is the database" (D4 §3.2). An unknown table decides nothing.
 */

import type { Pivot } from '../contracts/index.js';
import type { TableModel } from '../generate/index.js';
import { Savepoints } from '../rows/index.js';
import {
  arithmeticOf,
  type Dialect,
  nameKey,
  type SavepointStatement,
  type Statement,
  undecidable,
} from '../sql/index.js';
import { applyStatement, forgetTables, namesIn, noTables, type Tables } from './tables.js';

interface OpenTransaction {
  readonly tables: Tables;
  /** Tables it wrote. */
  readonly wrote: ReadonlySet<string>;
  /** Tables others committed changes of since it began. */
  readonly foreign: ReadonlySet<string>;
  /** It has run a query: whatever the pivot, its snapshot is taken. */
  readonly hasRead: boolean;
  /** It has run anything. */
  readonly hasRun: boolean;
  /** Never changed: a transaction is copied with what happens to it. */
  readonly savepoints: Savepoints<Tables>;
}

export interface ShadowOptions {
  readonly dialect: Dialect;
  /** The target's name: engines that speak a dialect need not divide alike. */
  readonly target: string;
  readonly pivot: Pivot;
  /** DDL in a transaction commits it. */
  readonly ddlCommits: boolean;
}

export class ShadowState {
  #committed: Tables = noTables;
  readonly #open = new Map<number, OpenTransaction>();
  /** How each table was drawn, by key: kept for tables that are created again. */
  readonly #models = new Map<string, TableModel>();

  constructor(readonly options: ShadowOptions) {}

  /** The same state, to go on from without changing this one. */
  copy(): ShadowState {
    const copy = new ShadowState(this.options);
    copy.#committed = this.#committed;
    for (const [session, open] of this.#open) copy.#open.set(session, open);
    for (const [key, model] of this.#models) copy.#models.set(key, model);
    return copy;
  }

  get committed(): Tables {
    return this.#committed;
  }

  inTransaction(session: number): boolean {
    return this.#open.has(session);
  }

  /** The tables as a session sees them. */
  view(session: number): Tables {
    return this.#open.get(session)?.tables ?? this.#committed;
  }

  /** Remembers how a table was drawn, before its CREATE TABLE is applied. */
  declare(model: TableModel): void {
    this.#models.set(nameKey(model.name, this.options.dialect), model);
  }

  /** Follows a statement that worked. */
  apply(session: number, statement: Statement): void {
    const open = this.#open.get(session);
    switch (statement.type) {
      case 'begin':
        this.#open.set(session, begun(this.#committed));
        return;
      case 'commit':
        if (open !== undefined) this.#commit(session, open);
        return;
      case 'rollback':
        this.rollBack(session);
        return;
      case 'savepoint':
      case 'release':
      case 'rollback-to':
        if (open !== undefined) this.#savepoint(session, open, statement);
        return;
      default:
        this.#run(session, statement);
    }
  }

  /** The transaction of a session, if one is open, is gone: ROLLBACK, an error, a lost connection. */
  rollBack(session: number): void {
    this.#open.delete(session);
  }

  rollBackAll(): void {
    this.#open.clear();
  }

  /** Nothing is known of any table from here on, until it is emptied or created again. */
  forgetAll(why: string): void {
    this.#committed = forgetTables(this.#committed, this.#committed.keys(), why);
    for (const [session, open] of this.#open)
      this.#open.set(session, { ...open, tables: forgetTables(open.tables, open.tables.keys(), why) });
  }

  #run(session: number, statement: Statement): void {
    const { dialect, ddlCommits } = this.options;
    const isDdl =
      statement.type === 'create-table' || statement.type === 'create-index' || statement.type === 'drop';
    let open = this.#open.get(session);
    if (open !== undefined && isDdl && ddlCommits) {
      this.#commit(session, open);
      open = undefined;
    }
    const model =
      statement.type === 'create-table' ? this.#models.get(nameKey(statement.name, dialect)) : undefined;
    const before = open?.tables ?? this.#committed;
    const after = applyStatement(before, statement, arithmeticOf(dialect, this.options.target), model);
    const changed = changedNames(before, after);
    if (open === undefined) {
      this.#publish(session, after, changed);
      return;
    }
    // InnoDB's writes see what is committed now, not the snapshot the transaction reads from.
    const unsure = this.options.pivot === 'first-read' && open.foreign.size > 0 ? changed : [];
    const read = open.hasRead || (statement.type === 'select' && namesIn(statement, dialect).read.length > 0);
    this.#open.set(session, {
      ...open,
      tables: forgetTables(after, unsure, 'a write beside another session’s commit'),
      wrote: new Set([...open.wrote, ...changed]),
      hasRead: read,
      hasRun: true,
    });
  }

  #savepoint(session: number, open: OpenTransaction, { type, name }: SavepointStatement): void {
    const { dialect, pivot } = this.options;
    const savepoints = open.savepoints.copy();
    const back = savepoints.follow({ kind: type, name: nameKey(name, dialect) }, open.tables);
    // What it wrote stays written about: others must not take the table for untouched.
    const tables = back === undefined ? open.tables : (back.backTo ?? open.tables);
    // The tables of a savepoint are as old as it is; others may have committed since. One that we do not know may be of any age.
    const stale = back === undefined || pivot === 'begin' ? [] : open.foreign;
    const unknown = back !== undefined && back.backTo === undefined ? open.wrote : [];
    const why = 'a savepoint older than another session’s commit';
    this.#open.set(session, {
      ...open,
      savepoints,
      tables: forgetTables(forgetTables(tables, stale, why), unknown, 'a savepoint that is not known'),
    });
  }

  #commit(session: number, open: OpenTransaction): void {
    this.#open.delete(session);
    const after = new Map(this.#committed);
    for (const name of open.wrote) {
      const table = open.tables.get(name);
      if (table === undefined) after.delete(name);
      else if (open.foreign.has(name))
        after.set(name, { ...table, rows: undecidable('two transactions wrote the table') });
      else after.set(name, table);
    }
    this.#publish(session, after, [...open.wrote]);
  }

  #publish(session: number, tables: Tables, changed: readonly string[]): void {
    this.#committed = tables;
    if (changed.length === 0) return;
    for (const [other, open] of this.#open)
      if (other !== session) this.#open.set(other, this.#afterCommit(open, changed));
  }

  /** What an open transaction sees after another session has committed changes of some tables. */
  #afterCommit(open: OpenTransaction, changed: readonly string[]): OpenTransaction {
    const { pivot } = this.options;
    const seen = new Map(open.tables);
    for (const name of changed) {
      const table = this.#committed.get(name);
      const old = seen.get(name);
      const keeps = pivot === 'begin' || (pivot !== 'statement' && pivot !== 'uncommitted' && open.hasRead);
      const moves = pivot === 'statement' ? !open.wrote.has(name) : !open.hasRun;
      if (keeps) continue;
      if (moves && pivot !== 'uncommitted') {
        if (table === undefined) seen.delete(name);
        else seen.set(name, table);
      } else if (old !== undefined)
        seen.set(name, { ...old, rows: undecidable('another session committed meanwhile') });
    }
    return { ...open, tables: seen, foreign: new Set([...open.foreign, ...changed]) };
  }
}

function begun(tables: Tables): OpenTransaction {
  return {
    tables,
    wrote: new Set(),
    foreign: new Set(),
    hasRead: false,
    hasRun: false,
    savepoints: new Savepoints(),
  };
}

function changedNames(before: Tables, after: Tables): string[] {
  if (before === after) return [];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}
