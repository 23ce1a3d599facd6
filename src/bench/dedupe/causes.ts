/**
 * The causes of the labelled set, each with what makes its label true. No label comes from what Isolde says of a finding.
 *
 * - **Injected**: a fault of the wrapper in PostgreSQL or DuckDB; the engine without it does not show the bug. A fault that is narrowed to a kind of
 *   statement is a cause of its own: a fix of the one does not mend the other. Faults strike whenever their condition holds, as bugs do: one
 *   that counted (every second time) would show in a case only if the case had the right number of occasions, which no other
 *   case of the same bug shares. `missed-certification` is left out for the same reason: without counting it is `weaker-level`.
 * - **Live**: a bug of a release, hunted with programs of only those statements that it needs. A case that holds statements of another known bug, or lacks those
 *   of this one, is left out (`holds`). Where a release or a setting has it mended, the bug must be gone there.
 */
import type { Case } from '../../cases/index.js';
import type { Level } from '../../contracts/index.js';
import { allFeatures, type Feature, makeProfile, type Profile } from '../../generate/index.js';
import { type FaultName, type FaultSpec, parseFault } from '../../targets/index.js';

export interface LabelledCause {
  /** `postgres/lost-update`; the label. */
  readonly id: string;
  /** Where it is hunted, as URLs without the fault; seeds take turns. */
  readonly engines: readonly string[];
  readonly level: Level;
  /** Text of `parseFault`; absent: the engine’s own bug. */
  readonly fault?: string;
  /** Profiles that its seeds take turns with; `mix`: the hunt’s own. */
  readonly profiles: readonly (Profile | string)[];
  /** Only this oracle finds it. */
  readonly oracle?: string;
  /** For a live bug: other builds of its engines that can be run, those where it is mended among them. */
  readonly builds?: readonly string[];
  /** Of these: where it must be gone. */
  readonly mended?: string;
  /** For a live bug: whether the statements of a case, in one text, can show it and none of the other bugs that are known in its engines. */
  readonly holds?: (statements: string) => boolean;
}

/** Whether a bug of a hunt for this cause is one of the cause. */
export function isOfCause({ holds }: LabelledCause, { sessions }: Pick<Case, 'sessions'>): boolean {
  return holds?.(sessions.flatMap(({ statements }) => statements).join('\n')) ?? true;
}

/** What a hunt draws from, and more often what makes sessions meet. */
const usual = [
  ...['mix', 'races', 'no-op', 'contention', 'predicates'],
  ...['mix', 'keys', 'simple', 'locking', 'mixed'],
];
/** Only these bring keys that are taken twice, freed, or given by the database. */
const ofKeys = ['races', 'keys', 'mix'];
const ofQueries = ['queries'];

const common: Readonly<Partial<Record<FaultName, readonly string[]>>> = {
  'weaker-level': usual,
  'stale-snapshot': usual,
  'late-snapshot': usual,
  'dirty-read': usual,
  'missed-own-write': usual,
  'missed-own-noop-write': ['no-op', 'mix', 'contention'],
  'lost-update': usual,
  'lost-insert': usual,
  'commit-on-rollback': usual,
  'visible-committed-delete': usual,
  'resurrected-row': usual,
  'phantom-in-snapshot': usual,
  'split-predicate': ['predicates', 'mix', 'simple', 'mixed'],
  'duplicate-key-accepted': ofKeys,
  'key-of-uncommitted-delete': ofKeys,
  'failure-ends-transaction': ofKeys,
  'index-past-snapshot': usual,
};
/** Its waits and locks make these possible. */
const ofPostgres: Readonly<Partial<Record<FaultName, readonly string[]>>> = {
  'stripped-row-lock': ['locking', 'waits', 'mix'],
  'automatic-key-reused': ['races'],
};
/** One fault, several causes: each can be mended without the others. */
const narrowed: Readonly<Record<string, readonly string[]>> = {
  'unreported-write-conflict(kind=update)': usual,
  'unreported-write-conflict(kind=delete)': usual,
  'partial-commit(kind=insert)': usual,
  'partial-commit(kind=update)': usual,
  'partial-commit(kind=delete)': usual,
};
/** Faults of evaluation: only the statement oracle finds them. */
const ofEvaluation: readonly FaultName[] = [
  'mixed-snapshot',
  'stale-index',
  'misfolded-expression',
  'altered-commit',
];

function injected(
  engine: string,
  level: Level,
  faults: Readonly<Record<string, readonly string[]>>,
): LabelledCause[] {
  return Object.entries(faults).map(([fault, profiles]) => ({
    ...{ id: `${engine.replace(':', '')}/${fault}`, engines: [engine], level, fault, profiles },
  }));
}

function evaluated(engine: string, level: Level): LabelledCause[] {
  const faults = Object.fromEntries(ofEvaluation.map((fault) => [fault, ofQueries]));
  return injected(engine, level, faults).map((cause) => ({ ...cause, oracle: 'statement' }));
}

/** Programs of few tables in which only the named features occur, of the groups that they belong to. */
function programsOf(
  name: string,
  columns: Profile['columns'],
  weights: Partial<Record<Feature, number>>,
): Profile {
  const groups = new Set(Object.keys(weights).map((feature) => feature.split('.')[0]!));
  for (const group of ['column', 'index', 'write', 'detail']) groups.add(group);
  const zero = allFeatures.filter((feature) => groups.has(feature.split('.')[0]!));
  return makeProfile(name, 'only statements that one bug needs', {
    ...{ tables: [1, 1], columns, rows: [1, 3], sessions: [2, 3], transactions: [1, 1], hot: 0.9 },
    weights: { ...Object.fromEntries(zero.map((feature) => [feature, 0])), ...weights },
  });
}

const plain = {
  'key.none': 1,
  'type.int': 1,
  'begin.plain': 10,
  'begin.autocommit': 4,
  'end.commit': 1,
  'select.plain': 1,
  'lock.none': 1,
  'statement.select': 10,
} as const;
const byRow = { 'where.none': 3, 'where.rid': 3, 'where.comparison': 2, 'where.between': 1 } as const;

/** A transaction updates a row that another one has deleted. */
const deletedRows = programsOf('deleted-rows', [1, 1], {
  ...{
    ...plain,
    ...byRow,
    'statement.update': 10,
    'statement.delete': 10,
    'set.constant': 4,
    'set.expression': 1,
  },
});
/** Two transactions update different columns of one row. */
const otherColumns = programsOf('other-columns', [2, 3], {
  ...{ ...plain, ...byRow, 'statement.update': 10, 'set.constant': 4, 'set.expression': 1 },
});
/** Every update sets all rows to a constant of a few: what another transaction has just set, now and then. */
const sameValues = programsOf('same-values', [1, 1], {
  ...{ ...plain, 'where.none': 1, 'statement.update': 10, 'set.no-op': 3, 'set.constant': 1, 'type.int': 0 },
  'type.boolean': 1,
});
/** Transactions delete all rows; the second one finds none. */
const deletes = programsOf('deletes', [1, 2], { ...plain, 'where.none': 1, 'statement.delete': 10 });
/** Every update sets all rows to a constant of a few, NULL among them. */
const toNull = programsOf('to-null', [1, 1], {
  ...{ ...plain, 'where.none': 1, 'statement.update': 10, 'set.constant': 1 },
});
/** InnoDB in both of its servers: one bug, wherever it is found. The setting is the only thing that mends any of them. */
function ofInnodb(bug: string, profile: Profile): LabelledCause {
  const on = 'innodb_snapshot_isolation=ON';
  return {
    ...{
      id: `innodb/${bug}`,
      engines: ['mariadb:', 'mysql:'],
      level: 'repeatable read',
      profiles: [profile],
    },
    builds: [
      'mariadb:',
      `mariadb:?${on}`,
      'mariadb@11.8:',
      'mariadb@11.8:?innodb_snapshot_isolation=OFF',
      'mysql:',
    ],
    mended: `mariadb:?${on}`,
  };
}

const duckdbBuilds = ['duckdb:', 'duckdb@1.4.4:', 'duckdb@1.3.2:', 'duckdb@1.1.3:'];

function ofDuckdb(bug: string, profile: Profile, more: Partial<LabelledCause>): LabelledCause {
  return {
    ...{ id: `duckdb/${bug}`, engines: ['duckdb:'], level: 'snapshot', profiles: [profile] },
    ...{ builds: duckdbBuilds, ...more },
  };
}

const hasDelete = (statements: string): boolean => /^DELETE/im.test(statements);
const setsNull = (statements: string): boolean => /= NULL/i.test(statements);

export const labelledCauses: readonly LabelledCause[] = [
  ...injected('duckdb:', 'snapshot', { ...common, ...narrowed }),
  ...injected('postgres:', 'repeatable read', { ...common, ...ofPostgres, ...narrowed }),
  ...injected('postgres:', 'read committed', { 'stale-reevaluation': ['waits', 'mix'] }),
  ...evaluated('duckdb:', 'snapshot'),
  ...evaluated('postgres:', 'repeatable read'),
  ofDuckdb('update-of-deleted-row', deletedRows, { holds: (text) => hasDelete(text) && !setsNull(text) }),
  ofDuckdb('updates-of-other-columns', otherColumns, { holds: (text) => !setsNull(text) }),
  // An update to NULL and another update of the row do not conflict since 1.4.
  ofDuckdb('update-to-null', toNull, { holds: setsNull, mended: 'duckdb@1.3.2:' }),
  ofInnodb('no-op-update', sameValues),
  ofInnodb('stale-rows-after-delete', deletes),
  {
    ...{ id: 'turso/key-inserted-twice', engines: ['turso@0.4.4:?mode=mvcc'], level: 'snapshot' },
    ...{
      profiles: ['races'],
      builds: ['turso@0.4.3:?mode=mvcc', 'turso@0.5.3:?mode=mvcc', 'turso:?mode=mvcc'],
    },
    mended: 'turso@0.5.3:?mode=mvcc',
  },
];

/** What a cause is hunted with; undefined: nothing is injected. */
export function faultOf({ fault }: Pick<LabelledCause, 'fault'>): FaultSpec | undefined {
  return fault === undefined ? undefined : parseFault(fault);
}
