/**
 * What the set-up says of its tables, as far as it decides whether statements can change places: values the database makes up,
 * numbers whose sum depends on the order, keys, and who refers to whom.
 */
import { columnsUsed, type Definition, definitionsIn } from '../../rows/index.js';
import {
  type ColumnConstraint,
  type ColumnInfo,
  type Dialect,
  nameKey,
  parseStatement,
  type TableConstraint,
} from '../../sql/index.js';
import { isSteady } from '../instrument/functions.js';

export interface SetupTable {
  readonly name: string;
  /** What the spellings of its name have in common. */
  readonly key: string;
  readonly columns: readonly string[];
  readonly types: readonly ColumnInfo[];
  /** Columns the database fills by itself, in the order in which rows come. */
  readonly auto: readonly string[];
  readonly floats: ReadonlySet<string>;
  /** Columns of primary keys and unique constraints. */
  readonly keyColumns: ReadonlySet<string>;
  readonly keys: readonly (readonly string[])[];
  /** Columns that are calculated from others: no INSERT names them. */
  readonly generated: ReadonlySet<string>;
  /** The keys of the names of tables its foreign keys refer to. */
  readonly parents: readonly string[];
  /** A default that is not the same each time. */
  readonly unsteadyDefault: boolean;
}

export interface Setup {
  readonly tables: ReadonlyMap<string, SetupTable>;
  /** Why no statement of such a case can change places. */
  readonly refused?: string;
}

const harmless = /^\s*(SET|ANALYZE|VACUUM|CHECKPOINT|CREATE\s+SCHEMA|PRAGMA)\b/i;

export function readSetup(setup: readonly string[], dialect: Dialect): Setup {
  const parsed = setup.map((sql) => ({ sql, statement: parseStatement(sql, dialect) }));
  const definitions = definitionsIn(
    parsed.map(({ statement }) => statement),
    dialect,
  );
  const unclear = parsed.find(({ sql, statement }) => statement.type === 'opaque' && !harmless.test(sql));
  const refused =
    unclear === undefined
      ? definitions.map(problemOf).find((problem) => problem !== undefined)
      : `the set-up says ${unclear.sql}`;
  const tables = new Map(
    definitions.map((each) => tableOf(each, dialect)).map((table) => [table.key, table]),
  );
  return { tables, ...(refused !== undefined && { refused }) };
}

function problemOf({ create, foreignKeys }: Definition): string | undefined {
  const { name, options = '' } = create;
  const constraints = [...create.columns.flatMap((column) => column.constraints), ...create.constraints];
  // Rows would change without a mark, or constraints be looked at when nobody sees it.
  const actions = foreignKeys.flatMap(({ references }) => references.actions ?? []);
  if (actions.length > 0) return `the foreign keys of ${name} act on other rows`;
  if (constraints.some((each) => /deferrable/i.test(textBehind(each))))
    return `constraints of ${name} may be checked later`;
  if (/\bengine\b/i.test(options) && !/\binnodb\b/i.test(options))
    return `${name} is kept by another storage engine`;
  return undefined;
}

/** What a constraint says that the parser does not take apart. */
function textBehind(constraint: ColumnConstraint | TableConstraint): string {
  if (constraint.type === 'other') return constraint.sql;
  return 'tail' in constraint ? (constraint.tail ?? '') : '';
}

const floatType = /\b(REAL|FLOAT\d*|DOUBLE)\b/i;

function tableOf({ create, shape, indexes, foreignKeys }: Definition, dialect: Dialect): SetupTable {
  const { name, columns } = create;
  const fold = (each: string) => nameKey(each, dialect);
  const keys = indexes.filter(({ unique }) => unique).map((index) => columnsUsed(index).map(fold));
  return {
    name,
    key: fold(name),
    columns: columns.map((column) => fold(column.name)),
    types: shape.columns,
    auto: shape.columns.filter(({ automatic }) => automatic).map((column) => fold(column.name)),
    floats: new Set(
      columns.filter(({ columnType = '' }) => floatType.test(columnType)).map((column) => fold(column.name)),
    ),
    generated: new Set(
      shape.columns.filter(({ generated }) => generated !== undefined).map((column) => fold(column.name)),
    ),
    keyColumns: new Set(keys.flat()),
    keys,
    parents: foreignKeys.map(({ references }) => fold(references.table)),
    unsteadyDefault: shape.columns.some(({ default: value }) => value !== undefined && !isSteady(value)),
  };
}
