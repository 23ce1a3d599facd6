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
import {
  type Catalog,
  type Definition,
  definitionOf,
  reachesAnyTable,
  sharesRows,
  type Table,
  wholeColumns,
} from '../../rows/index.js';
import {
  type ColumnConstraint,
  type CreateTableStatement,
  columnOf,
  compilePredicate,
  type Dialect,
  type EvaluatedRow,
  isUndecidable,
  parseStatement,
  printExpression,
  type Statement,
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
    if ((kind === 'ddl' && redefines.test(sql)) || reachesAnyTable(sql)) return nothing;
    const sets = kind === 'set' || kind === 'other' || /\bset_config\b/i.test(sql);
    if (sets && switchesChecks.test(sql)) return nothing;
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
    // A key, a condition or a reference of a parent says nothing of rows that its children have.
    if (table.unfollowed === sharesRows) continue;
    const definition = definitionOf(create, statements, dialect);
    keys.push(...keysOf(table, definition, dialect));
    notNull.set(
      table,
      create.columns.flatMap(({ constraints }, at) =>
        constraints.some(({ type }) => type === 'not-null') && !conflictClause(constraints) ? [at] : [],
      ),
    );
    if (checksHold(target?.name, target?.version)) checks.push(...checksOf(create, table, catalog));
    if (referencesHold(target, create))
      references.push(...referencesOf(definition, table, catalog, target?.name));
  }
  const plain = new Set(names.filter((table) => table!.unfollowed === undefined) as Table[]);
  return { keys, notNull, checks, references, plain };
}

/** A definition we cannot read may say anything of any table. */
function isUnclear(statement: Statement): boolean {
  if (statement.type !== 'opaque') return false;
  if (statement.kind === 'set') return switchesChecks.test(statement.sql);
  if (/^\s*create\s+sequence\b/i.test(statement.sql)) return false;
  return statement.kind !== 'select' && statement.kind !== 'insert' && statement.kind !== 'update';
}

function conflictClause(constraints: readonly ColumnConstraint[]): boolean {
  return constraints.some(
    (constraint) => constraint.type === 'other' && /\bconflict\b/i.test(constraint.sql),
  );
}

function keysOf(table: Table, { indexes }: Definition, dialect: Dialect): DeclaredKey[] {
  return indexes.flatMap((index) => {
    const { unique, primary, where, tail = '' } = index;
    if (!unique || where !== undefined || postponed.test(tail)) return [];
    const columns = wholeColumns(index)?.map((name) => columnOf(table.shape.columns, name, dialect));
    const clear = columns?.every((at) => at >= 0 && looksAlike(table, at, dialect)) === true;
    return clear ? [{ table, primary, columns }] : [];
  });
}

/** Whether values of a column that are shown alike are equal for a key: not so for rounded floats. */
function looksAlike({ shape }: Table, at: number, dialect: Dialect): boolean {
  const { type } = shape.columns[at]!;
  const { family } = sqlType(type, dialect);
  return type !== undefined && (family === 'int' || family === 'text');
}

function checksHold(target: string | undefined, version: string | undefined): boolean {
  if (target === 'tidb') return false;
  if (target !== 'mysql') return true;
  const [, major, , patch] = /(\d+)\.(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return Number(major) > 8 || (Number(major) === 8 && (Number(patch) >= 16 || !/^8\.0\./.test(version!)));
}

function checksOf(
  create: CreateTableStatement,
  table: Table,
  { dialect, borrowed }: Catalog,
): DeclaredCheck[] {
  const constraints = [...create.columns.flatMap((column) => column.constraints), ...create.constraints];
  return constraints.flatMap((constraint) => {
    if (constraint.type !== 'check' || constraint.tail !== undefined) return [];
    const holds = compilePredicate(constraint.condition, table.shape.columns, { dialect, borrowed });
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
  { foreignKeys }: Definition,
  table: Table,
  catalog: Catalog,
  target: string | undefined,
): DeclaredReference[] {
  const { dialect } = catalog;
  // Values are compared by how they look, so both sides must be integers.
  const isInt = ({ shape }: Table, position: number) =>
    position >= 0 && sqlType(shape.columns[position]!.type, dialect).family === 'int';
  return foreignKeys.flatMap(({ columns: from, references, written }) => {
    // MySQL reads a reference of a column and forgets it.
    if (written === 'beside' && (target === 'mysql' || target === 'mariadb')) return [];
    const parent = references.schema === undefined ? catalog.find(references.table) : undefined;
    if (parent === undefined || parent.unfollowed === sharesRows) return [];
    if (postponed.test(references.actions ?? '')) return [];
    const wanted = references.columns ?? parent.shape.keys.find((key) => key.primary)?.columns ?? [];
    const columns = from.map((column) => columnOf(table.shape.columns, column, dialect));
    const parentColumns = wanted.map((column) => columnOf(parent.shape.columns, column, dialect));
    if (columns.length !== parentColumns.length || columns.length === 0) return [];
    const isClear =
      columns.every((each) => isInt(table, each)) && parentColumns.every((each) => isInt(parent, each));
    return isClear ? [{ table, columns, parent, parentColumns }] : [];
  });
}
