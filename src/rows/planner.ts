/**
 * From SQL text to a plan (`plan-types.ts`), with the parser and evaluator of `sql`. A SELECT over one table that keeps
 * its rows apart becomes a scan; any other query that can be evaluated is run on whole tables; what cannot be evaluated
 * is opaque, and says so.
 *
 * Programs repeat their statements, and most others differ in their constants alone. A plan depends on nothing but the
 * text and is kept by it. Statements of the simplest shapes are read once per shape (`plan-filler.ts`); of others at least
 * parsing and looking for features is done once (`sql/parse/by-shape.ts`).
 */
import {
  type ShapedStatement,
  type Statement,
  type StatementFeatures,
  shapeParserOf,
  statementFeatures,
} from '../sql/index.js';
import { type Catalog, createText } from './catalog.js';
import { shapeOf } from './constant-shape.js';
import { fillerOf, type PlanFiller } from './plan-filler.js';
import { known } from './plan-parts.js';
import { planSelect } from './plan-select.js';
import type { Plan } from './plan-types.js';
import { planMerge } from './plan-upsert.js';
import { planChange, planInsert } from './plan-write.js';
import { reachesAnyTable } from './reaches-any-table.js';
import { touchesNoRows } from './touches-no-rows.js';

/** Distinct texts whose plans are kept; then they are made anew. */
const plansKept = 5000;

export class Planner {
  readonly #plans = new Map<string, Plan>();
  readonly #fillers = new Map<string, PlanFiller | null>();

  constructor(private readonly catalog: Catalog) {}

  /** What a statement does. */
  plan(sql: string): Plan {
    const kept = this.#plans.get(sql);
    if (kept !== undefined) return kept;
    const shape = shapeOf(sql, this.catalog.dialect);
    const filled = shape === undefined ? undefined : this.#fillers.get(shape.key)?.(shape.constants);
    if (filled !== undefined) return filled;
    const shaped = shapeParserOf(this.catalog.dialect).parse(sql);
    const plan = planStatement(sql, shaped, () => featuresOf(shaped), this.catalog);
    if (shape !== undefined && !this.#fillers.has(shape.key))
      this.#fillers.set(shape.key, fillerOf(shaped.statement, plan, shape.constants, this.catalog.dialect));
    if (this.#plans.size >= plansKept) this.#plans.clear();
    this.#plans.set(sql, plan);
    return plan;
  }
}

/** By shape: what a statement mentions depends on no value. */
const features = new WeakMap<Statement, StatementFeatures>();

function featuresOf({ shape }: ShapedStatement): StatementFeatures {
  const known = features.get(shape) ?? statementFeatures(shape);
  features.set(shape, known);
  return known;
}

const planners = new WeakMap<Catalog, Planner>();

/** The planner of all who work on the same tables. */
export function plannerOf(catalog: Catalog): Planner {
  const planner = planners.get(catalog) ?? new Planner(catalog);
  planners.set(catalog, planner);
  return planner;
}

function planStatement(
  sql: string,
  { statement }: ShapedStatement,
  features: () => StatementFeatures,
  catalog: Catalog,
): Plan {
  switch (statement.type) {
    case 'select':
      return planSelect(statement, features(), catalog);
    case 'update':
    case 'delete':
      return planChange(statement, features(), catalog);
    case 'insert':
      return planInsert(statement, features(), catalog);
    case 'merge':
      return planMerge(statement, catalog);
    case 'begin':
    case 'commit':
    case 'rollback':
    case 'savepoint':
    case 'release':
    case 'rollback-to':
      return { type: 'idle' };
    case 'create-index': {
      const table = catalog.find(statement.table.name);
      return { type: 'idle', ...(table && { defines: [table] }) };
    }
    case 'create-table': {
      const table = catalog.find(statement.name);
      // The catalog took it to be there, empty, from the beginning.
      if (table?.createdBy !== undefined && table.createdBy === createText(statement))
        return { type: 'idle', defines: [table] };
      return schemaChange([statement.name], catalog);
    }
    case 'drop':
      return schemaChange(
        statement.names.map(({ name }) => name),
        catalog,
      );
    case 'opaque': {
      if (statement.kind === 'set' || (statement.kind === 'other' && touchesNoRows(sql)))
        return { type: 'idle' };
      const reaching = reachesAnyTable(sql);
      const writes = reaching || statement.kind !== 'select';
      const unknown = reaching || statement.kind === 'other' || /\btrigger\b/i.test(sql);
      const tables = unknown ? undefined : known(statement.tables, catalog);
      const reads = writes ? [] : statement.tables.flatMap((name) => catalog.find(name) ?? []);
      const { reason } = statement;
      return { type: 'opaque', writes, tables, reads, lock: 'none', reason, keys: undefined };
    }
    default:
      return statement satisfies never;
  }
}

function schemaChange(names: readonly string[], catalog: Catalog): Plan {
  const tables = known(names, catalog);
  const reason = 'a change of the schema';
  return { type: 'opaque', writes: true, tables, reads: [], lock: 'none', reason, keys: undefined };
}
