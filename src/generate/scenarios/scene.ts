/**
 * What scenarios are made of: one small table `t(rid, k, u, v)` whose key takes every form the dialect has, with an index of
 * every kind it has, and the statements on it as text.
 *
 * `rid` names rows, as in every generated table. `k` is the key: plain, `INTEGER PRIMARY KEY`, text, or given by the database. `u` is
 * unique, where the table has it. `v` is what is written; every constant is written once in a case.
 */
import type { Dialect } from '../../sql/index.js';
import type { IndexKind } from '../../targets/index.js';
import type { Capabilities } from '../capabilities.js';
import type { Random } from '../random.js';

export type SceneIndex = 'none' | 'secondary' | IndexKind;

export const keyForms = ['int', 'integer', 'text', 'automatic', 'composite'] as const;
export type KeyForm = (typeof keyForms)[number];

export interface Scene {
  readonly dialect: Dialect;
  readonly capabilities: Capabilities;
  readonly keyForm: KeyForm;
  readonly unique: boolean;
  /** What `v` must be: not negative, not NULL. */
  readonly checked: boolean;
  readonly notNull: boolean;
  readonly index: SceneIndex;
  readonly setup: readonly string[];
  /** Keys of the initial rows, from 1 to this. */
  readonly rows: number;
}

/** Where nothing is declared. */
const usualIndexes: Readonly<Record<Dialect, readonly IndexKind[]>> = {
  postgres: ['partial', 'expression', 'covering'],
  mysql: ['covering'],
  sqlite: ['partial', 'covering'],
  duckdb: ['expression'],
};

/** The index kinds a target has. */
export function indexKindsOf({ dialect, indexes, unsupported }: Capabilities): readonly SceneIndex[] {
  const special = indexes ?? usualIndexes[dialect];
  const lacks = (kind: IndexKind) => kind === 'partial' && unsupported.includes('index.partial');
  return ['none', 'secondary', ...special.filter((kind) => !lacks(kind))];
}

const usualAutomaticKeys: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: ['SERIAL PRIMARY KEY', 'BIGSERIAL PRIMARY KEY'],
  mysql: ['INT AUTO_INCREMENT PRIMARY KEY', 'BIGINT AUTO_INCREMENT PRIMARY KEY'],
  sqlite: ['INTEGER PRIMARY KEY', 'INTEGER PRIMARY KEY AUTOINCREMENT'],
  duckdb: ["INT DEFAULT nextval('s') PRIMARY KEY", "BIGINT DEFAULT nextval('s') PRIMARY KEY"],
};

/** The forms of a key that a target has. */
export function keyFormsOf({ explicitKeys, unsupported }: Capabilities): readonly KeyForm[] {
  return keyForms.filter((form) => {
    if (form === 'automatic') return explicitKeys !== true;
    return form !== 'text' || !unsupported.includes('type.text');
  });
}

const keyWeights: Readonly<Record<KeyForm, number>> = {
  int: 2,
  integer: 2,
  text: 1,
  automatic: 4,
  composite: 1,
};

function drawKeyForm(random: Random, capabilities: Capabilities): KeyForm {
  const forms = keyFormsOf(capabilities);
  return forms[random.weighted(forms.map((form) => keyWeights[form]))!]!;
}

function keyDefinition(form: KeyForm, { dialect, automaticKeys }: Capabilities, random: Random): string {
  switch (form) {
    case 'int':
      return 'INT PRIMARY KEY';
    case 'integer':
      return 'INTEGER PRIMARY KEY';
    case 'text':
      return dialect === 'mysql' ? 'VARCHAR(40) PRIMARY KEY' : 'TEXT PRIMARY KEY';
    case 'automatic':
      return random.pick(automaticKeys ?? usualAutomaticKeys[dialect]);
    case 'composite':
      return 'INT';
    default:
      return form satisfies never;
  }
}

export interface SceneOptions {
  readonly keyForm?: KeyForm;
  readonly index?: SceneIndex;
}

export function drawScene(random: Random, capabilities: Capabilities, options: SceneOptions = {}): Scene {
  const { dialect } = capabilities;
  const keyForm = options.keyForm ?? drawKeyForm(random, capabilities);
  const index = options.index ?? random.pick(indexKindsOf(capabilities));
  const unique = random.chance(0.7);
  const checked = random.chance(0.3);
  const rows = random.between(1, 3);
  const notNull = random.chance(0.3);
  const columns = [
    'rid INT',
    `k ${keyDefinition(keyForm, capabilities, random)}`,
    ...(unique ? ['u INT UNIQUE'] : []),
    `v INT${notNull ? ' NOT NULL' : ''}${checked ? ' CHECK (v >= 0)' : ''}`,
    ...(keyForm === 'composite' ? ['PRIMARY KEY (k, rid)'] : []),
  ];
  const scene: Scene = {
    ...{ dialect, capabilities, keyForm, unique, checked, notNull, index, rows },
    setup: [],
  };
  const create = `CREATE TABLE t (${columns.join(', ')})`;
  const initial = Array.from({ length: rows }, (_, i) =>
    rowOf(scene, {
      rid: i + 1,
      key: automatic(scene) ? undefined : i + 1,
      u: 10 * (i + 1),
      v: 100 * (i + 1),
    }),
  );
  const fill = `INSERT INTO t (${columnsOf(scene, !automatic(scene)).join(', ')}) VALUES ${initial.join(', ')}`;
  const sequence = create.includes('nextval(') ? ['CREATE SEQUENCE s'] : [];
  return { ...scene, setup: [...sequence, create, ...indexStatement(index), fill] };
}

/** Whether the database gives keys that are left out. */
export function automatic({ keyForm }: Scene): boolean {
  return keyForm === 'automatic';
}

function indexStatement(index: SceneIndex): string[] {
  switch (index) {
    case 'none':
      return [];
    case 'secondary':
      return ['CREATE INDEX i ON t (v)'];
    case 'partial':
      return ['CREATE INDEX i ON t (v) WHERE v > 0'];
    case 'expression':
      return ['CREATE INDEX i ON t ((v + 0))'];
    case 'covering':
      return ['CREATE INDEX i ON t (v, k, rid)'];
    case 'hash':
      return ['CREATE INDEX i ON t USING hash (v)'];
    case 'brin':
      return ['CREATE INDEX i ON t USING brin (v)'];
    case 'gin':
      return [`CREATE INDEX i ON t USING gin (${listOfValue})`];
    case 'gist':
      return [`CREATE INDEX i ON t USING gist (${rangeOfValue})`];
    default:
      return index satisfies never;
  }
}

/** The columns an INSERT names. */
export function columnsOf({ unique }: Scene, withKey: boolean): string[] {
  return ['rid', ...(withKey ? ['k'] : []), ...(unique ? ['u'] : []), 'v'];
}

/** `(rid, k, u, v)`; no key: the database gives it. */
export function rowOf(
  scene: Scene,
  { rid, key, u, v }: { rid: number; key: number | undefined; u: number; v: number },
): string {
  const cells = [rid, ...(key === undefined ? [] : [keyText(scene, key)]), ...(scene.unique ? [u] : []), v];
  return `(${cells.join(', ')})`;
}

/** A key as the table's type writes it. */
export function keyText({ keyForm }: Scene, key: number): string {
  return keyForm === 'text' ? `'k${key}'` : String(key);
}

/** The condition on `v` in the words that an index of the kind serves, or in words none does. */
export function condition({ index }: Scene, value: number, byIndex: boolean): string {
  if (!byIndex) return `v - 0 = ${value}`;
  if (index === 'expression') return `v + 0 = ${value}`;
  if (index === 'gin') return `${listOfValue} @> string_to_array('${value}', ',')`;
  // A range without a value would be one of all values.
  return index === 'gist' ? `v IS NOT NULL AND ${rangeOfValue} @> ${value}` : `v = ${value}`;
}

/** A condition that takes every row with a value, by the order of the index; undefined: it has none, or one of other things. */
export function rangeCondition({ index }: Scene): string | undefined {
  if (index === 'expression') return 'v + 0 >= 1';
  return index === 'hash' || index === 'gin' || index === 'gist' ? undefined : 'v >= 1';
}

/** Whether there is an index on `v`: a program then reads through it. */
export function hasIndex({ index }: Scene): boolean {
  return index !== 'none';
}

/** `v` as what GIN and GiST have operators for without any extension. */
const listOfValue = "string_to_array(v::text, ',')";
const rangeOfValue = "int4range(v, v, '[]')";

/** Words that make a read go through the index, where the dialect has them. */
export function indexHint({ dialect, index, capabilities }: Scene): string {
  if (index !== 'secondary' && index !== 'covering') return '';
  if (dialect === 'mysql') return ' FORCE INDEX (i)';
  return capabilities.target === 'sqlite' ? ' INDEXED BY i' : '';
}

/** Switches of MySQL's and MariaDB's optimizer that change how rows are found, not which. */
const optimizerSwitches = [
  'index_condition_pushdown=off',
  'mrr=on,mrr_cost_based=off',
  'index_merge=off',
  'materialization=off,semijoin=off',
];

/** PostgreSQL's choices beside reading the whole table: what it likes best, by bitmap, row by row. */
const scans = ['any', 'bitmap', 'plain'] as const;

/** Settings that make the planner take other ways, where there are any: each session sends them first. */
export function plannerSettings(scene: Scene, random: Random): readonly string[] {
  const { capabilities, index } = scene;
  const { target } = capabilities;
  const settable = target === 'postgres' || target === 'mariadb' || target === 'mysql';
  // Small tables are read whole otherwise, whatever index there is.
  if (!settable || !random.chance(hasIndex(scene) ? 0.7 : 0.25)) return [];
  if (target !== 'postgres') return [`SET optimizer_switch = '${random.pick(optimizerSwitches)}'`];
  // Of small tables it likes bitmaps best; BRIN and GIN know nothing else.
  const scan = random.pick(index === 'brin' || index === 'gin' ? scans.slice(0, 2) : scans);
  const without = { any: [], bitmap: ['SET enable_indexscan = off'], plain: ['SET enable_bitmapscan = off'] };
  return ['SET enable_seqscan = off', ...without[scan]];
}
