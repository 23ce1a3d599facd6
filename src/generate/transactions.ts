/**
 * Transactions: BEGIN, statements drawn by weight, COMMIT or ROLLBACK. The shadow state follows, so that the next
 * transaction, whichever session it belongs to, finds rows where this one left them.
 */
import type { Statement } from '../sql/index.js';
import { drawBegin } from './begin-forms.js';
import { column, table } from './build.js';
import type { Chooser } from './chooser.js';
import type { OptionOf } from './features.js';
import type { Predicates } from './predicates.js';
import type { Random } from './random.js';
import { createIndex, ridColumn } from './schema.js';
import { Selects } from './selects.js';
import type { ShadowTable } from './shadow.js';
import { Upserts } from './upserts.js';
import { Writes, type Written } from './writes.js';

/** What a session has made for itself and must tidy away itself: nobody else may rely on it. */
export interface SessionState {
  readonly number: number;
  readonly indexes: { readonly name: string; readonly on: string }[];
  readonly tables: string[];
  made: number;
  /** It never writes nor locks. */
  readonly readOnly?: boolean;
}

/** Tables are kept this small: more rows make statements slower, not more telling. */
const mostRows = 40;

type Kind = OptionOf<'statement'>;
const insertKinds: readonly Kind[] = ['insert', 'insert-select', 'upsert', 'replace', 'merge'];

export class Transactions {
  readonly #chooser: Chooser;
  readonly #beginnings: Random;
  readonly #selects: Selects;
  readonly #writes: Writes;
  readonly #upserts: Upserts;

  /** `beginnings`: the stream that the forms of BEGIN are drawn from. */
  constructor(
    readonly predicates: Predicates,
    beginnings: Random,
  ) {
    this.#beginnings = beginnings;
    this.#chooser = predicates.chooser;
    this.#selects = new Selects(predicates);
    this.#writes = new Writes(predicates);
    this.#upserts = new Upserts(this.#writes);
  }

  /** Fills the tables; what children refer to stays. */
  initialRows(): Statement[] {
    const { random, profile } = this.#chooser;
    return this.predicates.shadow.tables.map((each) => {
      const statement = this.#writes.initialRows(each, random.between(...profile.rows));
      if (each.model.parent) each.pinned = each.nextRid - 1;
      this.predicates.shadow.keep();
      return statement;
    });
  }

  /** One transaction, or that many autocommitted statements. */
  transaction(session: SessionState, count: number): Statement[] {
    const begin = this.#chooser.one('begin');
    if (begin === 'autocommit') return this.#autocommitted(session, count);
    const { shadow } = this.predicates;
    const statements: Statement[] = [drawBegin(begin, this.#chooser.capabilities, this.#beginnings)];
    const savepoints: { readonly name: string; readonly mark: number }[] = [];
    const start = shadow.mark();
    const readOnly = begin === 'read-only' || session.readOnly === true;
    let doomed = false;
    while (statements.length <= count && !doomed) {
      const kind = this.#kind(readOnly);
      if (kind === 'savepoint') statements.push(this.#savepoint(savepoints));
      else {
        const { statement, collides } = this.#statement(kind, this.#table(), !readOnly);
        statements.push(statement);
        // Where the error dooms the transaction nothing of the rest would be sent; elsewhere it merely ends early.
        doomed = collides === true;
      }
    }
    const commit = this.#chooser.one('end') === 'commit';
    if (!commit || (doomed && this.#chooser.capabilities.errorDoomsTransaction)) shadow.undo(start);
    shadow.keep();
    return [...statements, { type: commit ? 'commit' : 'rollback' }];
  }

  #autocommitted(session: SessionState, count: number): Statement[] {
    const { shadow } = this.predicates;
    const statements: Statement[] = [];
    for (let i = 0; i < count; i++) {
      const kind = session.readOnly === true ? 'select' : this.#chooser.one('statement', autocommitKinds);
      if (kind === 'index') statements.push(this.#index(session));
      else if (kind === 'table') statements.push(this.#ownTable(session));
      else statements.push(this.#statement(kind, this.#table(), false).statement);
      shadow.keep();
    }
    return statements;
  }

  #kind(readOnly: boolean): Kind {
    return readOnly ? 'select' : this.#chooser.one('statement', transactionKinds);
  }

  #table(): ShadowTable {
    return this.#chooser.random.pick(this.predicates.shadow.tables);
  }

  #statement(drawn: Kind, of: ShadowTable, mayLock: boolean): Written {
    const kind = this.#fitting(drawn, of);
    switch (kind) {
      case 'insert':
        return this.#writes.insert(of);
      case 'insert-select':
        return this.#writes.insertSelect(of);
      case 'upsert':
        return this.#upserts.upsert(of);
      case 'replace':
        return this.#upserts.replace(of);
      case 'merge':
        return this.#upserts.merge(of);
      case 'update':
        return this.#writes.update(of);
      case 'delete':
        return this.#writes.delete(of);
      default:
        return { statement: this.#selects.select(of, mayLock) };
    }
  }

  /** What is drawn, unless the table has nothing to change, no key to meet, is full, or is all but empty. */
  #fitting(drawn: Kind, of: ShadowTable): Kind {
    const kind = drawn === 'update' && !this.#writes.canUpdate(of) ? 'insert' : drawn;
    const full = of.size >= Math.max(mostRows, 2 * this.#chooser.profile.rows[1]);
    if (insertKinds.includes(kind) && full) return 'delete';
    if (kind === 'delete' && of.size <= 1) return 'insert';
    const meets = kind === 'upsert' || kind === 'replace' || kind === 'merge';
    return meets && !Upserts.fits(of) ? 'insert' : kind;
  }

  #savepoint(open: { readonly name: string; readonly mark: number }[]): Statement {
    const { random } = this.#chooser;
    const { shadow } = this.predicates;
    if (open.length === 0 || random.chance(0.3)) {
      const name = `s${open.length + 1}`;
      open.push({ name, mark: shadow.mark() });
      return { type: 'savepoint', name };
    }
    const at = random.below(open.length);
    const { name, mark } = open[at]!;
    if (random.chance(0.7)) {
      shadow.undo(mark);
      // The savepoint itself survives going back to it.
      open.length = at + 1;
      return { type: 'rollback-to', name };
    }
    open.length = at;
    return { type: 'release', name };
  }

  /** CREATE INDEX, or DROP INDEX of one of its own. */
  #index(session: SessionState): Statement {
    const { random, capabilities } = this.#chooser;
    const old = session.indexes[0];
    if (old !== undefined && random.chance(0.5)) {
      session.indexes.shift();
      const tail = capabilities.dialect === 'mysql' ? { tail: `ON ${old.on}` } : {};
      return { type: 'drop', what: 'INDEX', ifExists: false, names: [{ name: old.name }], ...tail };
    }
    const { tables } = this.predicates.shadow;
    const plain = tables.filter(({ model }) => !(model.parent && capabilities.plainParents === true));
    const of = random.pick(plain.length > 0 ? plain : tables);
    const free = of.model.columns.filter(({ role }) => role === 'plain');
    const on = free.length === 0 ? ridColumn : random.pick(free).name;
    const name = `x${session.number}_${session.made++}`;
    session.indexes.push({ name, on: of.model.name });
    return createIndex({ name, columns: [on] }, of.model.name);
  }

  /** CREATE TABLE of its own, filled from a table of all, or DROP TABLE of it. */
  #ownTable(session: SessionState): Statement {
    const old = session.tables.shift();
    if (old !== undefined) return { type: 'drop', what: 'TABLE', ifExists: false, names: [{ name: old }] };
    const name = `own${session.number}_${session.made++}`;
    session.tables.push(name);
    const of = this.#table().model.name;
    return {
      type: 'create-table',
      temporary: false,
      ifNotExists: false,
      name,
      columns: [],
      constraints: [],
      as: {
        type: 'select',
        body: {
          type: 'core',
          distinct: false,
          items: [{ type: 'item', expression: column(ridColumn) }],
          from: [table(of)],
          groupBy: [],
        },
        orderBy: [],
        locks: [],
      },
    };
  }
}

/** DDL commits in MySQL: it stands outside transactions. */
const transactionKinds: readonly Kind[] = [
  'select',
  'insert',
  'insert-select',
  'upsert',
  'replace',
  'merge',
  'update',
  'delete',
  'savepoint',
];
const autocommitKinds: readonly Kind[] = [...transactionKinds.slice(0, -1), 'index', 'table'];
