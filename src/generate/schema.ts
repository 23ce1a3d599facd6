/**
 * Schemas: tables as the generator knows them, drawn from a profile, and their CREATE statements.
 *
 * Every table has a column `rid` first: unique by the generator's care, never updated, and without constraint or index
 * (a constraint changes locks and plans), so that a result names the rows it shows. Foreign keys point only at rows of
 * the initial data, which are then never deleted and keep their keys: otherwise every other write would fail.
 */
import type {
  ColumnConstraint,
  CreateIndexStatement,
  CreateTableStatement,
  Dialect,
  Expression,
  TableConstraint,
  Value,
} from '../sql/index.js';
import { binary, column, literal, table } from './build.js';
import type { Chooser } from './chooser.js';
import { type ColumnKind, domainOf, isWhole, typeName } from './values.js';

/** The column that names rows, and the one of unique values. */
export const ridColumn = 'rid';
export const versionColumn = 'v';

export interface ColumnModel {
  readonly name: string;
  readonly kind: ColumnKind;
  /**
   * `key` and `unique`: no two rows share it. `version`: never written the same twice. `reference`: a key of a parent.
   * `generated`: computed by the database.
   */
  readonly role: 'rid' | 'key' | 'unique' | 'plain' | 'reference' | 'generated' | 'version';
  readonly nullable: boolean;
  readonly domain: readonly Value[];
  /** Whole numbers far from overflow, free of checks: expressions may be computed and stored. */
  readonly arithmetic: boolean;
  readonly default?: Value;
  readonly check?: Expression;
  readonly generated?: Expression;
  readonly references?: { readonly table: string; readonly column: string };
}

export interface IndexModel {
  readonly name: string;
  readonly columns: readonly string[];
  readonly where?: Expression;
}

export interface TableModel {
  readonly name: string;
  readonly columns: readonly ColumnModel[];
  /** Column names of the primary key, in key order; empty: none. */
  readonly key: readonly string[];
  readonly indexes: readonly IndexModel[];
  /** Whether other tables refer to it. */
  readonly parent: boolean;
}

/** Draws the tables of a case. */
export function drawSchema(chooser: Chooser): TableModel[] {
  const { random, profile } = chooser;
  const count = random.between(...profile.tables);
  const tables: TableModel[] = [];
  for (let t = 0; t < count; t++) tables.push(drawTable(chooser, `t${t}`, tables));
  const parents = new Set(
    tables.flatMap(({ columns }) => columns.map(({ references }) => references?.table)),
  );
  return tables.map((model) => {
    if (!parents.has(model.name)) return model;
    const indexes = chooser.capabilities.plainParents === true ? [] : model.indexes;
    return { ...model, parent: true, indexes };
  });
}

export function drawTable(chooser: Chooser, name: string, earlier: readonly TableModel[]): TableModel {
  const { random, profile } = chooser;
  const count = random.between(...profile.columns);
  const keyStyle = chooser.one('key', count > 1 ? undefined : ['none', 'single']);
  const keyCount = keyStyle === 'none' ? 0 : keyStyle === 'single' ? 1 : 2;
  const key = Array.from({ length: keyCount }, (_, k): ColumnModel => keyColumn(chooser, `c${k}`));
  const columns: ColumnModel[] = [plainColumn(ridColumn, 'int', { role: 'rid', nullable: false }), ...key];
  for (let c = keyCount; c < count; c++) columns.push(drawColumn(chooser, `c${c}`, columns, earlier));
  if (profile.uniqueValues) {
    const version = { role: 'version', domain: [], arithmetic: false } as const;
    columns.push(plainColumn(versionColumn, 'bigint', version));
  }
  return {
    name,
    columns,
    key: key.map((each) => each.name),
    indexes: drawIndexes(chooser, name, columns),
    parent: false,
  };
}

function plainColumn(name: string, kind: ColumnKind, more: Partial<ColumnModel> = {}): ColumnModel {
  const domain = domainOf(kind, false);
  return { name, kind, role: 'plain', nullable: true, domain, arithmetic: isWhole(kind), ...more };
}

function keyColumn(chooser: Chooser, name: string): ColumnModel {
  const kind = chooser.one('type', ['int', 'bigint', 'text']);
  return plainColumn(name, kind, { role: 'key', nullable: false, arithmetic: false });
}

function drawColumn(
  chooser: Chooser,
  name: string,
  columns: readonly ColumnModel[],
  earlier: readonly TableModel[],
): ColumnModel {
  const { random } = chooser;
  const parents = earlier.filter(({ key, columns: [, first] }) => key.length === 1 && first!.role === 'key');
  if (parents.length > 0 && chooser.chance('column.foreign-key')) {
    const parent = random.pick(parents);
    const target = parent.columns[1]!;
    const references = { table: parent.name, column: target.name };
    return plainColumn(name, target.kind, { role: 'reference', arithmetic: false, references });
  }
  const bases = columns.filter((each) => each.arithmetic && each.role === 'plain');
  if (bases.length > 0 && chooser.chance('column.generated')) {
    const from = random.pick(bases);
    const generated = binary(random.pick(['+', '-'] as const), column(from.name), literal(1));
    return plainColumn(name, from.kind, { role: 'generated', arithmetic: false, generated });
  }
  if (chooser.chance('column.unique')) {
    const kind = chooser.one('type', ['int', 'bigint', 'text']);
    return plainColumn(name, kind, { role: 'unique', arithmetic: false });
  }
  return drawPlainColumn(chooser, name);
}

function drawPlainColumn(chooser: Chooser, name: string): ColumnModel {
  const { random } = chooser;
  const kind = chooser.one('type');
  const boundary = chooser.chance('column.boundary');
  const checked = chooser.chance('column.check') && (isWhole(kind) || kind === 'text');
  const nullable = !chooser.chance('column.not-null');
  const all = domainOf(kind, boundary);
  const domain = checked ? all.filter((_, i) => i !== 2) : all;
  // The value the check excludes is one the domain would have used often.
  const check = checked ? binary('<>', column(name), literal(all[2]!)) : undefined;
  return plainColumn(name, kind, {
    domain,
    nullable,
    arithmetic: isWhole(kind) && !boundary && !checked,
    ...(check === undefined ? {} : { check }),
    ...(chooser.chance('column.default') && mayBeDefault(kind, chooser.capabilities)
      ? { default: random.pickSkewed(domain) }
      : {}),
  });
}

function mayBeDefault(kind: ColumnKind, { plainDefaults }: Chooser['capabilities']): boolean {
  if (kind === 'binary') return false;
  return plainDefaults !== true || !['date', 'timestamp', 'time'].includes(kind);
}

function drawIndexes(chooser: Chooser, name: string, columns: readonly ColumnModel[]): IndexModel[] {
  const { random } = chooser;
  const indexes: IndexModel[] = [];
  const add = (names: readonly string[], where?: Expression) =>
    indexes.push({
      name: `${name}_i${indexes.length}`,
      columns: names,
      ...(where === undefined ? {} : { where }),
    });
  const free = columns.filter(({ role }) => role === 'plain' || role === 'reference');
  if (free.length > 0 && chooser.chance('index.secondary')) add([random.pick(free).name]);
  if (free.length > 1 && chooser.chance('index.composite'))
    add(
      random
        .shuffle(free)
        .slice(0, 2)
        .map((each) => each.name),
    );
  const whole = free.filter(({ kind }) => isWhole(kind));
  if (whole.length > 0 && chooser.chance('index.partial')) {
    const on = random.pick(whole);
    add([on.name], binary('>', column(on.name), literal(1)));
  }
  if (chooser.chance('index.rid')) add([ridColumn]);
  return indexes;
}

/** CREATE TABLE of a model. */
export function createTable(model: TableModel, dialect: Dialect, stored: boolean): CreateTableStatement {
  const constraints: TableConstraint[] = [];
  if (model.key.length > 1) {
    const columns = model.key.map((name) => ({ expression: column(name) }));
    constraints.push({ type: 'primary-key', columns });
  }
  for (const { name, references } of model.columns) {
    if (references === undefined) continue;
    // MySQL reads a reference behind a column and forgets it.
    const target = { table: references.table, columns: [references.column] };
    constraints.push({ type: 'foreign-key', columns: [name], references: target });
  }
  return {
    type: 'create-table',
    temporary: false,
    ifNotExists: false,
    name: model.name,
    columns: model.columns.map((each) => ({
      name: each.name,
      columnType: typeName(each.kind, dialect),
      constraints: columnConstraints(each, model, stored),
    })),
    constraints,
  };
}

function columnConstraints(model: ColumnModel, { key }: TableModel, stored: boolean): ColumnConstraint[] {
  if (model.generated !== undefined) return [{ type: 'generated', value: model.generated, stored }];
  const constraints: ColumnConstraint[] = [];
  // First, as the standard has it: HSQLDB wants it so.
  if (model.default !== undefined) constraints.push({ type: 'default-value', value: literal(model.default) });
  if (model.role === 'key' && key.length === 1) constraints.push({ type: 'primary-key' });
  else if (!model.nullable && model.role !== 'rid') constraints.push({ type: 'not-null' });
  if (model.role === 'unique') constraints.push({ type: 'unique' });
  if (model.check !== undefined) constraints.push({ type: 'check', condition: model.check });
  return constraints;
}

export function createIndex({ name, columns, where }: IndexModel, on: string): CreateIndexStatement {
  return {
    type: 'create-index',
    unique: false,
    ifNotExists: false,
    name,
    table: table(on),
    columns: columns.map((each) => ({ expression: column(each) })),
    ...(where === undefined ? {} : { where }),
  };
}
