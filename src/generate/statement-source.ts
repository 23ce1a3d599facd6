/**
 * Statements one at a time, for tables whose rows somebody else keeps: what properties draw from. A case is drawn as a
 * whole (`generate-case.ts`); here each call gets the tables as they are at that moment.
 *
 * The shadow state of the generator is built anew for each call, from rows that are given. Tables are small, and nothing
 * can then differ between what the caller knows and what the generator assumes.
 */
import {
  compilePredicate,
  type DeleteStatement,
  type EvaluatedRow,
  type Expression,
  type InsertStatement,
  isUndecidable,
  printStatement,
  type SelectStatement,
  type Statement,
  type TableRows,
  type Value,
} from '../sql/index.js';
import { binary, literal } from './build.js';
import type { Capabilities } from './capabilities.js';
import { Chooser } from './chooser.js';
import { type Aim, columnOf, Predicates } from './predicates.js';
import type { Profile } from './profile.js';
import type { Random } from './random.js';
import { insertRows, Rows, type RowValues } from './rows.js';
import { createIndex, createTable, drawTable, ridColumn, type TableModel } from './schema.js';
import { Selects } from './selects.js';
import { Shadow, type ShadowTable } from './shadow.js';
import { Writes } from './writes.js';

/** A table as its keeper knows it. */
export interface SourceTable {
  readonly model: TableModel;
  readonly rows: readonly EvaluatedRow[];
}

/** Numbers that no row of a table has used yet. */
interface Supply {
  nextRid: number;
  nextFresh: number;
}

export class StatementSource {
  readonly #chooser: Chooser;
  /** By table; they only grow, so that a key of a row that was rolled back is not taken again by accident. */
  readonly #supplies = new Map<string, Supply>();

  constructor(
    random: Random,
    profile: Profile,
    readonly capabilities: Capabilities,
  ) {
    this.#chooser = new Chooser(random, profile, capabilities);
  }

  get profile(): Profile {
    return this.#chooser.profile;
  }

  /** A new table, without references to others. */
  table(name: string): TableModel {
    return drawTable(this.#chooser, name, []);
  }

  /** The statements that create it. */
  create(model: TableModel): string[] {
    const { dialect, generated } = this.capabilities;
    return [
      printStatement(createTable(model, dialect, generated === 'stored'), dialect),
      ...model.indexes.map((index) => printStatement(createIndex(index, model.name), dialect)),
    ];
  }

  /** New rows for a table, by column. */
  newRows(tables: readonly SourceTable[], of: string, count: number): RowValues[] {
    return this.#with(tables, of, (table, predicates) =>
      new Rows(this.#chooser, predicates.shadow).newRows(table, count),
    );
  }

  /** The INSERT of given rows. */
  insertOf(tables: readonly SourceTable[], of: string, rows: readonly RowValues[]): InsertStatement {
    return this.#with(tables, of, (table) => insertRows(table, table.writable, rows, {}));
  }

  insert(tables: readonly SourceTable[], of: string): Statement {
    return this.#with(tables, of, (table, predicates) => new Writes(predicates).insert(table).statement);
  }

  insertSelect(tables: readonly SourceTable[], of: string): Statement {
    return this.#with(
      tables,
      of,
      (table, predicates) => new Writes(predicates).insertSelect(table).statement,
    );
  }

  /** Undefined: the table has no column that may change. */
  update(tables: readonly SourceTable[], of: string): Statement | undefined {
    return this.#with(tables, of, (table, predicates) => {
      const writes = new Writes(predicates);
      return writes.canUpdate(table) ? writes.update(table).statement : undefined;
    });
  }

  delete(tables: readonly SourceTable[], of: string): DeleteStatement {
    return this.#with(
      tables,
      of,
      (table, predicates) => new Writes(predicates).delete(table).statement as DeleteStatement,
    );
  }

  select(tables: readonly SourceTable[], of: string): SelectStatement {
    return this.#with(tables, of, (table, predicates) => new Selects(predicates).select(table, false));
  }

  /** A condition on a table: any. */
  condition(tables: readonly SourceTable[], of: string, qualified = false): Expression {
    return this.#with(tables, of, (table, predicates) => {
      const aim: Aim = {
        ...{ table, name: of, row: predicates.aimRow(table), writes: false },
        ...(qualified && { joined: true }),
      };
      return predicates.where(aim) ?? binary('>', columnOf(aim, ridColumn), literal(0));
    });
  }

  /**
   * A condition that is true for a row. A condition that is false for it is negated, one that is NULL is asked for NULL
   * (Rigger and Su's rectification); one that cannot be decided is drawn again, and the last resort names the row.
   */
  conditionFor(tables: readonly SourceTable[], of: string, row: EvaluatedRow, qualified = false): Expression {
    return this.#with(tables, of, (table, predicates) => {
      const rid = row[table.index(ridColumn)];
      const aimed = table.list().find((each) => each.rid === rid) ?? {
        rid: Number(rid),
        cells: row,
        sure: true,
      };
      const aim: Aim = {
        ...{ table, name: of, row: aimed, writes: false },
        ...(qualified && { joined: true }),
      };
      for (let attempt = 0; attempt < 8; attempt++) {
        const drawn = predicates.where(aim);
        if (drawn === undefined) continue;
        const truth = compilePredicate(drawn, namedColumns(table, of), {
          dialect: this.capabilities.dialect,
          table: (name) => rowsOf(predicates.shadow, name),
        })(row);
        if (isUndecidable(truth)) continue;
        if (truth === true) return drawn;
        if (truth === null) return { type: 'is', operand: drawn, test: 'NULL', negated: false };
        return { type: 'unary', op: 'NOT', operand: drawn };
      }
      return binary('=', columnOf(aim, ridColumn), literal(rid as Value));
    });
  }

  #with<T>(
    tables: readonly SourceTable[],
    of: string,
    use: (table: ShadowTable, predicates: Predicates) => T,
  ): T {
    const shadow = new Shadow(
      tables.map(({ model }) => model),
      this.capabilities.dialect,
    );
    for (const { model, rows } of tables) this.#fill(shadow.table(model.name)!, rows);
    const table = shadow.table(of)!;
    const result = use(table, new Predicates(this.#chooser, shadow));
    this.#supplies.set(of, { nextRid: table.nextRid, nextFresh: table.nextFresh });
    return result;
  }

  #fill(table: ShadowTable, rows: readonly EvaluatedRow[]): void {
    for (const cells of rows) {
      const rid = cells[table.index(ridColumn)] as number;
      table.set(rid, { rid, cells, sure: true });
    }
    const supply = this.#supplies.get(table.model.name);
    table.nextRid = supply?.nextRid ?? 1;
    table.nextFresh = supply?.nextFresh ?? 100;
  }
}

function namedColumns(table: ShadowTable, name: string) {
  return table.shape.columns.map((each) => ({ ...each, table: name }));
}

function rowsOf(shadow: Shadow, name: string): TableRows | undefined {
  const found = shadow.table(name);
  return found && { columns: found.shape.columns, rows: found.list().map(({ cells }) => cells) };
}
