/**
 * Plans of the simplest statements, made without parsing. Histories repeat few shapes with many constants: one row read, changed
 * or deleted by its name, rows of constants put in. The first statement of such a shape is planned as any other; its plan
 * becomes a template into which the constants of the others are filled, in the order of the text.
 *
 * Only constants that every engine stores as they stand are filled in: small integers in integer columns, texts in columns
 * without a length. For anything else the filler has no answer, and the statement is planned by itself.
 */
import {
  type Dialect,
  type EvaluatedRow,
  type Expression,
  isUndecidable,
  type ShapeColumn,
  type Statement,
  sqlType,
  type Value,
} from '../sql/index.js';
import { conditionOf, namedKeys } from './named-rows.js';
import { columnAt } from './plan-parts.js';
import type { ChangePlan, InsertPlan, Plan, Satisfies, ScanPlan } from './plan-types.js';
import type { Table } from './table.js';

/** The plan of a statement with these constants; undefined: they do not fit the template. */
export type PlanFiller = (constants: readonly Value[]) => Plan | undefined;

/** How further statements of the shape are read; null: one by one. */
export function fillerOf(
  statement: Statement,
  plan: Plan,
  constants: readonly Value[],
  dialect: Dialect,
): PlanFiller | null {
  switch (plan.type) {
    case 'insert':
      return insertFiller(statement, plan, constants, dialect);
    case 'scan':
      return constants.length === 1 && isKeyTest(statement, plan.table, constants[0]!, dialect)
        ? ([key]) => scanOf(plan, key!)
        : null;
    case 'delete':
      return constants.length === 1 && isKeyTest(statement, plan.table, constants[0]!, dialect)
        ? ([key]) => changeOf(plan, key!, () => 'absent')
        : null;
    case 'update':
      return updateFiller(statement, plan, constants, dialect);
    default:
      return null;
  }
}

/** Whether the condition is nothing but `name = constant`, for a name of integer type. */
function isKeyTest(statement: Statement, table: Table, constant: Value, dialect: Dialect): boolean {
  const where: Expression | undefined = conditionOf(statement);
  if (where?.type !== 'binary' || where.op !== '=' || !fits(constant)) return false;
  if (table.identity.length !== 1 || !isInteger(table.shape.columns[table.identity[0]!]!, dialect))
    return false;
  return namedKeys(where, table, { dialect })?.join() === String(constant);
}

const largest = 2 ** 31 - 1;

function fits(constant: Value | undefined): constant is number {
  return typeof constant === 'number' && constant <= largest;
}

function isInteger({ type }: ShapeColumn, dialect: Dialect): boolean {
  const { family, bits } = sqlType(type, dialect);
  return family === 'int' && (bits ?? 0) >= 32;
}

function equals(at: number, key: Value): Satisfies {
  return (row) => {
    const cell = row[at]!;
    return cell === key ? true : isUndecidable(cell) ? undefined : false;
  };
}

function scanOf(plan: ScanPlan, key: Value): ScanPlan | undefined {
  if (!fits(key)) return undefined;
  const { table, project, width, shows, complete, identityAt, wholeAt, lock, skipsLocked } = plan;
  const where = equals(table.identity[0]!, key);
  const keys = [String(key)];
  return {
    type: 'scan',
    table,
    where,
    keys,
    project,
    width,
    shows,
    complete,
    identityAt,
    wholeAt,
    lock,
    skipsLocked,
  };
}

function changeOf(
  { type, table, reads }: ChangePlan,
  key: Value,
  apply: (row: EvaluatedRow) => EvaluatedRow | 'absent',
): ChangePlan | undefined {
  if (!fits(key)) return undefined;
  const bound = { where: equals(table.identity[0]!, key), apply };
  return { type, table, keys: [String(key)], reads, bind: () => bound };
}

function updateFiller(
  statement: Statement,
  plan: ChangePlan,
  constants: readonly Value[],
  dialect: Dialect,
): PlanFiller | null {
  const { table } = plan;
  const last = constants.length - 1;
  if (statement.type !== 'update' || last !== statement.set.length || plan.reads.length > 0) return null;
  if (!isKeyTest(statement, table, constants[last]!, dialect)) return null;
  if (table.shape.columns.some(({ generated }) => generated !== undefined)) return null;
  const positions = statement.set.map(({ columns, value }, i) => {
    const at = columns.length === 1 ? columnAt({ type: 'column', name: columns[0]! }, table, dialect) : -1;
    const plain = at >= 0 && value.type === 'literal' && value.value === constants[i] && fits(constants[i]);
    return plain && isInteger(table.shape.columns[at]!, dialect) ? at : -1;
  });
  if (positions.includes(-1)) return null;
  return (values) => {
    for (let i = 0; i < last; i++) if (!fits(values[i])) return undefined;
    return changeOf(plan, values[last]!, (row) => {
      const changed = [...row];
      for (let i = 0; i < last; i++) changed[positions[i]!] = values[i]!;
      return changed;
    });
  };
}

function insertFiller(
  statement: Statement,
  plan: InsertPlan,
  constants: readonly Value[],
  dialect: Dialect,
): PlanFiller | null {
  const { table, reads } = plan;
  const { columns } = table.shape;
  if (statement.type !== 'insert' || statement.columns !== undefined || reads.length > 0) return null;
  const template = plan.bind(() => []);
  if (typeof template === 'string' || JSON.stringify(template.flat()) !== JSON.stringify(constants))
    return null;
  const kinds = columns.map((column) => {
    if (isInteger(column, dialect)) return 'number';
    return /^TEXT$/.test(column.type ?? '') && dialect !== 'mysql' ? 'string' : undefined;
  });
  if (kinds.includes(undefined)) return null;
  const width = columns.length;
  return (values) => {
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (typeof value !== kinds[i % width] || (typeof value === 'number' && value > largest))
        return undefined;
    }
    const rows = template.map((_, i) => values.slice(i * width, (i + 1) * width));
    return { type: 'insert', table, reads, bind: () => rows };
  };
}
