/**
 * Profiles: what a generated workload is like, as data. A profile gives sizes, how strongly sessions meet on the same
 * rows, and weights for features; whatever weight it does not name is the default one (`features.ts`).
 */
import { checkFormat, type JsonNode, parseJson, showFound } from '../json.js';
import {
  allFeatures,
  defaultWeights,
  type Feature,
  featureGroups,
  isFeature,
  type Weights,
} from './features.js';
import { queryWeights } from './query-weights.js';
import type { ScenarioName } from './scenarios/scenario.js';

/** An inclusive range. */
export type Range = readonly [low: number, high: number];

export interface Profile {
  readonly name: string;
  readonly description: string;
  readonly tables: Range;
  /** Per table, besides `rid`. */
  readonly columns: Range;
  /** Initial rows per table. */
  readonly rows: Range;
  readonly sessions: Range;
  /** Per session. */
  readonly transactions: Range;
  /** Per transaction, besides its BEGIN and its end. */
  readonly statements: Range;
  /** Share of statements that aim at one of a table's first two rows. */
  readonly hot: number;
  /** Every table has a column `v` into which no value is ever written twice, so that a read tells the version. */
  readonly uniqueValues: boolean;
  /** Every UPDATE and DELETE names one row by `rid` or key. */
  readonly singleRowWrites: boolean;
  /** Share of INSERT … SELECT in which numbers come from a window function. */
  readonly windowedCopies: number;
  /** Share of conditions `IN (SELECT …)` whose list is a window function. */
  readonly windowedLists: number;
  /** Share of DELETEs that take every row. */
  readonly wholeDeletes: number;
  readonly weights: Weights;
  /** Programs are built around a situation (`scenarios/`); sizes and weights then mean nothing. */
  readonly scenario?: ScenarioName;
}

type Changes = Partial<Omit<Profile, 'name' | 'description' | 'weights'>> & {
  readonly weights?: Partial<Record<Feature, number>>;
};

const base: Omit<Profile, 'name' | 'description'> = {
  tables: [1, 4],
  columns: [1, 6],
  rows: [2, 12],
  sessions: [2, 4],
  transactions: [1, 3],
  statements: [1, 6],
  hot: 0.4,
  uniqueValues: false,
  singleRowWrites: false,
  windowedCopies: 0,
  windowedLists: 0,
  wholeDeletes: 0,
  weights: defaultWeights,
};

/** A profile from what it changes. */
export function makeProfile(name: string, description: string, changes: Changes = {}): Profile {
  return { name, description, ...base, ...changes, weights: { ...defaultWeights, ...changes.weights } };
}

/** All weights of some groups zero, then the given ones. */
function only(
  groups: readonly string[],
  weights: Partial<Record<Feature, number>>,
): Partial<Record<Feature, number>> {
  const zero = allFeatures.filter((feature) => groups.includes(feature.split('.')[0]!));
  return { ...Object.fromEntries(zero.map((feature) => [feature, 0])), ...weights };
}

export const profiles: readonly Profile[] = [
  makeProfile('mixed', 'a little of everything'),
  makeProfile('contention', 'many sessions on few rows', {
    tables: [1, 2],
    columns: [1, 3],
    rows: [1, 3],
    sessions: [3, 6],
    statements: [2, 6],
    hot: 0.9,
    uniqueValues: true,
    weights: {
      'statement.update': 60,
      'set.expression': 10,
      'where.key': 20,
      'where.rid': 15,
      'lock.update': 4,
      'type.int': 20,
    },
  }),
  makeProfile('predicates', 'reads and writes that agree only if they see the same rows', {
    tables: [2, 3],
    columns: [2, 4],
    rows: [3, 8],
    weights: {
      'where.none': 2,
      'where.rid': 1,
      'where.key': 2,
      'where.comparison': 12,
      'where.between': 6,
      'where.in-query': 4,
      'where.scalar': 6,
      'where.exists': 4,
      'where.correlated': 4,
      'select.aggregate': 8,
      'statement.insert': 18,
      'statement.delete': 10,
      'type.int': 16,
    },
  }),
  makeProfile('keys', 'keys are written, moved, freed and taken again', {
    tables: [1, 3],
    columns: [1, 4],
    rows: [2, 6],
    weights: {
      'key.none': 0,
      'key.composite': 4,
      'column.unique': 0.4,
      'column.foreign-key': 0.5,
      'index.secondary': 0.6,
      'statement.insert': 25,
      'statement.upsert': 12,
      'statement.replace': 8,
      'statement.merge': 8,
      'statement.delete': 15,
      'set.key': 10,
      'where.key': 25,
      'write.collision': 0.03,
      'write.small-key': 0.7,
    },
  }),
  makeProfile('races', 'sessions want the same keys: plain, automatic, unique, absent, freed, moved', {
    scenario: 'races',
  }),
  makeProfile('waits', 'statements wait for a row that is changed once or more before they get it', {
    scenario: 'waits',
  }),
  makeProfile('no-op', 'updates that change nothing, deletes that find nothing', {
    tables: [1, 2],
    columns: [1, 3],
    rows: [1, 4],
    hot: 0.7,
    weights: {
      'statement.update': 50,
      'statement.delete': 10,
      'set.no-op': 20,
      'set.constant': 15,
      'where.none': 12,
      'type.int': 20,
      'type.boolean': 3,
    },
  }),
  makeProfile('locking', 'reads that lock, wait, refuse to wait and skip', {
    tables: [1, 2],
    rows: [2, 5],
    hot: 0.7,
    weights: {
      'lock.none': 2,
      'lock.update': 6,
      'lock.share': 4,
      'wait.nowait': 3,
      'wait.skip-locked': 2,
      'select.plain': 60,
      'statement.savepoint': 5,
    },
  }),
  makeProfile('ddl-light', 'indexes and tables come and go beside the work', {
    tables: [1, 3],
    weights: { 'statement.index': 3, 'statement.table': 2, 'begin.autocommit': 10 },
  }),
  makeProfile('read-mostly', 'many queries, few writes', {
    weights: {
      'statement.select': 80,
      'statement.insert': 5,
      'statement.update': 8,
      'statement.delete': 2,
      'begin.read-only': 5,
      'begin.snapshot': 4,
    },
  }),
  makeProfile(
    'queries',
    'joins, subqueries, set operations, aggregates and windows inside short transactions',
    {
      tables: [2, 3],
      columns: [2, 4],
      rows: [2, 6],
      hot: 0.5,
      windowedCopies: 0.7,
      windowedLists: 0.5,
      wholeDeletes: 0.5,
      weights: queryWeights,
    },
  ),
  makeProfile('simple', 'one row at a time by rid or key, whole rows, ranges: every version is known', {
    tables: [1, 2],
    columns: [1, 3],
    rows: [2, 8],
    uniqueValues: true,
    singleRowWrites: true,
    weights: {
      ...only(
        ['column', 'index', 'detail', 'lock', 'statement', 'select', 'where', 'set', 'write', 'begin'],
        {},
      ),
      'begin.plain': 10,
      'begin.autocommit': 1,
      'statement.select': 45,
      'statement.insert': 12,
      'statement.update': 35,
      'statement.delete': 8,
      'select.plain': 1,
      'detail.star': 1,
      'lock.none': 1,
      'where.none': 4,
      'where.rid': 8,
      'where.key': 8,
      'where.between': 5,
      'where.comparison': 2,
      'set.constant': 1,
    },
  }),
];

export function findProfile(name: string): Profile | undefined {
  return profiles.find((profile) => profile.name === name);
}

const profileFields = [
  'format',
  'version',
  'name',
  'description',
  'extends',
  'tables',
  'columns',
  'rows',
  'sessions',
  'transactions',
  'statements',
  'hot',
  'uniqueValues',
  'singleRowWrites',
  'windowedCopies',
  'windowedLists',
  'wholeDeletes',
  'weights',
];

/** Limits of what a file may ask for: a typing error should not fill the memory. */
const ranges = {
  tables: [1, 4],
  columns: [1, 6],
  rows: [1, 1000],
  sessions: [1, 64],
  transactions: [1, 100_000],
  statements: [1, 10_000],
} as const;

/** Statements a case may have at most: generating, running and checking each takes time. */
const mostStatements = 50_000;

/** Reads a profile file; fields it leaves out are those of the profile it `extends` (default `mixed`). */
export function parseProfile(text: string, file: string): Profile {
  const node = parseJson(text, file);
  checkFormat(node, 'isolde-profile', 1);
  node.object(profileFields);
  const parentName = node.maybe('extends', (each) => each.oneOf(profiles.map(({ name }) => name))) ?? 'mixed';
  const parent = findProfile(parentName)!;
  const range = (name: keyof typeof ranges): Range =>
    node.maybe(name, (each) => readRange(each, ranges[name])) ?? parent[name];
  const most = range('sessions')[1] * range('transactions')[1] * range('statements')[1];
  if (most > mostStatements) {
    node.fail(
      `sessions, transactions and statements allow cases of ${most} statements; at most ${mostStatements} are accepted`,
    );
  }
  return {
    name: node.at('name').text(),
    description: node.maybe('description', (each) => each.text()) ?? `own profile, based on ${parentName}`,
    tables: range('tables'),
    columns: range('columns'),
    rows: range('rows'),
    sessions: range('sessions'),
    transactions: range('transactions'),
    statements: range('statements'),
    hot: node.maybe('hot', (each) => readNumber(each, 1)) ?? parent.hot,
    uniqueValues: node.maybe('uniqueValues', readBoolean) ?? parent.uniqueValues,
    singleRowWrites: node.maybe('singleRowWrites', readBoolean) ?? parent.singleRowWrites,
    windowedCopies: node.maybe('windowedCopies', (each) => readNumber(each, 1)) ?? parent.windowedCopies,
    windowedLists: node.maybe('windowedLists', (each) => readNumber(each, 1)) ?? parent.windowedLists,
    wholeDeletes: node.maybe('wholeDeletes', (each) => readNumber(each, 1)) ?? parent.wholeDeletes,
    weights: { ...parent.weights, ...node.maybe('weights', readWeights) },
    ...(parent.scenario !== undefined && { scenario: parent.scenario }),
  };
}

function readRange(node: JsonNode, [low, high]: Range): Range {
  if (!Array.isArray(node.value)) {
    const count = node.count();
    if (count < low || count > high) node.fail(`expected ${low} to ${high}, found ${count}`);
    return [count, count];
  }
  const items = node.items();
  if (items.length !== 2) node.fail(`expected a number or [low, high], found ${showFound(node.value)}`);
  const [from, to] = [items[0]!.count(), items[1]!.count()];
  if (from < low || to > high || from > to) {
    node.fail(`expected a range inside [${low}, ${high}], found ${showFound(node.value)}`);
  }
  return [from, to];
}

function readNumber(node: JsonNode, highest: number): number {
  const { value } = node;
  if (typeof value === 'number' && value >= 0 && value <= highest) return value;
  return node.fail(`expected a number from 0 to ${highest}, found ${showFound(value)}`);
}

function readBoolean(node: JsonNode): boolean {
  if (typeof node.value === 'boolean') return node.value;
  return node.fail(`expected true or false, found ${showFound(node.value)}`);
}

function readWeights(node: JsonNode): Partial<Record<Feature, number>> {
  return Object.fromEntries(
    node.members().map((name) => {
      const each = node.at(name);
      if (!isFeature(name))
        return each.fail(`unknown feature ${name}; \`isolde generate --list\` lists them`);
      const group = name.split('.')[0] as keyof typeof featureGroups;
      return [name, readNumber(each, featureGroups[group].draw === 'chance' ? 1 : 1e6)];
    }),
  );
}
