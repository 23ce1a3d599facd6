/**
 * What the tables of a history promise by their definitions: keys without duplicates, columns without NULL, conditions that
 * every row satisfies, references to rows that exist.
 *
 * Only what certainly holds for every committed row is listed. Left out: whatever may be checked later than at once
 * (DEFERRABLE), not at all (NOT ENFORCED, NOT VALID, TiDB's CHECK, MySQL's before 8.0.16), or otherwise than the text says
 * (SQLite's ON CONFLICT clauses, prefixes and expressions in keys, foreign keys where the engine must be told to check
 * them). A history that changes definitions, or switches checks off, promises nothing.
 */
import type { History, TargetStamp } from '../../histories/index.js';
import type { Catalog, Table } from '../../rows/index.js';
import {
  type ColumnConstraint,
  type CreateTableStatement,
  compilePredicate,
  type Dialect,
  type EvaluatedRow,
  type Expression,
  type ForeignReference,
  isUndecidable,
  parseStatement,
  printExpression,
  type Statement,
  sameName,
  sqlType,
} from '../../sql/index.js';

export interface DeclaredKey {
  readonly table: Table;
  readonly primary: boolean;
  /** Positions in the table; all of types whose equal values look alike. */
  readonly columns: readonly number[];
}

export interface DeclaredCheck {
  readonly table: Table;
  readonly text: string;
  /** Whether a whole row breaks it, for certain. */
  readonly isBrokenBy: (row: EvaluatedRow) => boolean;
}

export interface DeclaredReference {
  readonly table: Table;
  readonly columns: readonly number[];
  readonly parent: Table;
  readonly parentColumns: readonly number[];
}

export interface Declared {
  readonly keys: readonly DeclaredKey[];
  /** Columns that hold no NULL. */
  readonly notNull: ReadonlyMap<Table, readonly number[]>;
  readonly checks: readonly DeclaredCheck[];
  readonly references: readonly DeclaredReference[];
  /** Tables whose rows change by nothing but the statements that name them. */
  readonly plain: ReadonlySet<Table>;
}

const nothing: Declared = {
  keys: [],
  notNull: new Map(),
  checks: [],
  references: [],
  plain: new Set(),
};

const redefines = /^\s*(alter|drop|rename|create\s+(or\s+replace\s+)?(temp|temporary|table))\b/i;
const switchesChecks =
  /unique_checks|foreign_key|check_constraint|sql_mode|replication_role|constraints\b|writable_schema|enforce/i;
const postponed = /deferr|initially|not\s+enforced|not\s+valid|on\s+conflict|nulls\s+not|\bmatch\b/i;

export function declaredBy(history: History, catalog: Catalog): Declared {
  const { setup = [], target } = history.header;
  const { dialect } = catalog;
  const statements = setup.map((sql) => parseStatement(sql, dialect));
  if (statements.some(isUnclear)) return nothing;
  for (const { kind, sql = '' } of history.operations) {
    if (kind === 'ddl' && redefines.test(sql)) return nothing;
    if ((kind === 'set' || kind === 'other') && switchesChecks.test(sql)) return nothing;
  }
  const creates = statements.filter((statement) => statement.type === 'create-table');
  const names = creates.map(({ name }) => catalog.find(name));
  if (new Set(names).size < names.length || names.includes(undefined)) return nothing;
  const keys: DeclaredKey[] = [];
  const notNull = new Map<Table, number[]>();
  const checks: DeclaredCheck[] = [];
  const references: DeclaredReference[] = [];
  for (const [i, create] of creates.entries()) {
    const table = names[i]!;
    keys.push(...keysOf(create, table, statements, dialect));
    notNull.set(
      table,
      create.columns.flatMap(({ constraints }, at) =>
        constraints.some(({ type }) => type === 'not-null') && !conflictClause(constraints) ? [at] : [],
      ),
    );
    if (checksHold(target?.name, target?.version)) checks.push(...checksOf(create, table, dialect));
    if (referencesHold(target, create))
      references.push(...referencesOf(create, table, catalog, target?.name));
  }
  const plain = new Set(names.filter((table) => table!.unfollowed === undefined) as Table[]);
  return { keys, notNull, checks, references, plain };
}

/** A definition we cannot read may say anything of any table. */
function isUnclear(statement: Statement): boolean {
  if (statement.type !== 'opaque') return false;
  if (statement.kind === 'set') return switchesChecks.test(statement.sql);
  return statement.kind !== 'select' && statement.kind !== 'insert' && statement.kind !== 'update';
}

function conflictClause(constraints: readonly ColumnConstraint[]): boolean {
  return constraints.some(
    (constraint) => constraint.type === 'other' && /\bconflict\b/i.test(constraint.sql),
  );
}

function keysOf(
  create: CreateTableStatement,
  table: Table,
  setup: readonly Statement[],
  dialect: Dialect,
): DeclaredKey[] {
  const keys: DeclaredKey[] = [];
  const add = (names: readonly (string | undefined)[], primary: boolean, tail: string | undefined) => {
    const columns = names.map((name) => (name === undefined ? -1 : positionOf(name, table, dialect)));
    const clear = columns.every((at) => at >= 0 && looksAlike(table, at, dialect));
    if (clear && (tail === undefined || !postponed.test(tail))) keys.push({ table, primary, columns });
  };
  const nameOf = ({ expression, length }: { readonly expression: Expression; readonly length?: number }) =>
    expression.type === 'column' && length === undefined ? expression.name : undefined;
  for (const { name, constraints } of create.columns)
    for (const constraint of constraints)
      if (constraint.type === 'primary-key' || constraint.type === 'unique') {
        const { type, tail } = constraint;
        add(
          [name],
          type === 'primary-key',
          `${tail ?? ''} ${conflictClause(constraints) ? 'on conflict' : ''}`,
        );
      }
  for (const constraint of create.constraints)
    if (constraint.type === 'primary-key' || constraint.type === 'unique')
      add(constraint.columns.map(nameOf), constraint.type === 'primary-key', constraint.tail);
  for (const statement of setup) {
    if (statement.type !== 'create-index' || !statement.unique || statement.where !== undefined) continue;
    if (sameName(statement.table.name, create.name, dialect))
      add(statement.columns.map(nameOf), false, undefined);
  }
  return keys;
}

/** Whether values of a column that are shown alike are equal for a key: not so for rounded floats. */
function looksAlike({ shape }: Table, at: number, dialect: Dialect): boolean {
  const { type } = shape.columns[at]!;
  const { family } = sqlType(type, dialect);
  return type !== undefined && (family === 'int' || family === 'text');
}

function positionOf(name: string, { shape }: Table, dialect: Dialect): number {
  return shape.columns.findIndex((column) => sameName(column.name, name, dialect));
}

function checksHold(target: string | undefined, version: string | undefined): boolean {
  if (target === 'tidb') return false;
  if (target !== 'mysql') return true;
  const [, major, , patch] = /(\d+)\.(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return Number(major) > 8 || (Number(major) === 8 && (Number(patch) >= 16 || !/^8\.0\./.test(version!)));
}

function checksOf(create: CreateTableStatement, table: Table, dialect: Dialect): DeclaredCheck[] {
  const constraints = [...create.columns.flatMap((column) => column.constraints), ...create.constraints];
  return constraints.flatMap((constraint) => {
    if (constraint.type !== 'check' || constraint.tail !== undefined) return [];
    const holds = compilePredicate(constraint.condition, table.shape.columns, { dialect });
    const isBrokenBy = (row: EvaluatedRow) => {
      const truth = holds(row);
      return !isUndecidable(truth) && truth === false;
    };
    return [{ table, text: printExpression(constraint.condition, dialect), isBrokenBy }];
  });
}

/** Engines that check references without being told to, in tables of a storage engine that does. */
function referencesHold(target: TargetStamp | undefined, { options = '' }: CreateTableStatement): boolean {
  const { name, settings } = target ?? {};
  if (name === 'postgres' || name === 'cockroach' || name === 'duckdb') return true;
  if (name !== 'mariadb' && name !== 'mysql') return false;
  if (!/^innodb$/i.test(settings?.default_storage_engine ?? 'innodb')) return false;
  return !/\b(engine|partition)\b/i.test(options) || /\bengine\s*=?\s*innodb\b/i.test(options);
}

function referencesOf(
  create: CreateTableStatement,
  table: Table,
  catalog: Catalog,
  target: string | undefined,
): DeclaredReference[] {
  const found: DeclaredReference[] = [];
  const { dialect } = catalog;
  const add = (
    columns: readonly string[],
    { table: name, columns: to, actions, schema }: ForeignReference,
  ) => {
    const parent = schema === undefined ? catalog.find(name) : undefined;
    if (parent === undefined || (actions !== undefined && postponed.test(actions))) return;
    const wanted = to ?? parent.shape.keys.find((key) => key.primary)?.columns ?? [];
    const at = columns.map((column) => positionOf(column, table, dialect));
    const parentColumns = wanted.map((column) => positionOf(column, parent, dialect));
    if (at.length !== parentColumns.length || at.length === 0) return;
    // Values are compared by how they look, so both sides must be integers.
    const isInt = ({ shape }: Table, position: number) =>
      position >= 0 && sqlType(shape.columns[position]!.type, dialect).family === 'int';
    if (at.every((each) => isInt(table, each)) && parentColumns.every((each) => isInt(parent, each)))
      found.push({ table, columns: at, parent, parentColumns });
  };
  // MySQL reads a reference of a column and forgets it.
  for (const { name, constraints } of create.columns)
    for (const constraint of constraints)
      if (constraint.type === 'references' && target !== 'mysql' && target !== 'mariadb')
        add([name], constraint.references);
  for (const constraint of create.constraints)
    if (constraint.type === 'foreign-key') add(constraint.columns, constraint.references);
  return found;
}
