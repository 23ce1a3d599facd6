/**
 * What differs between the engines that speak MySQL's protocol: levels and their contracts, how a session is
 * set up, who ends a slow statement, and where waiting sessions are listed. The server says which engine it
 * is; the URL's scheme does not decide it.
 */
import { engineSetting, type Level, usualEngine } from '../../contracts/index.js';
import type { SessionOptions, TargetFeatures, TargetLevel } from '../target.js';
import { waitingInInnodb, waitingInMysql, waitingInTidb } from './mysql-waiting.js';
import type { WireConnection } from './mysql-wire.js';

export interface MysqlFlavor {
  readonly name: 'mariadb' | 'mysql' | 'tidb';
  readonly features: TargetFeatures;
  /** The levels, given the settings the server reported. */
  levels(settings: Readonly<Record<string, string>>): readonly TargetLevel[];
  /** Statements that prepare a new session, given the settings the server reported. */
  sessionSetup(options: SessionOptions, settings: Readonly<Record<string, string>>): readonly string[];
  /** The server ends slow statements of every kind by itself; otherwise we send KILL QUERY. */
  readonly endsSlowStatements: boolean;
  /** The handshake's connection number is not the one KILL takes. */
  readonly asksConnectionId: boolean;
  /** How a running statement, or a connection, is ended. */
  kill(what: 'QUERY' | 'CONNECTION', id: number): string;
  /** A database can have a comment. */
  hasDatabaseComments(version: string): boolean;
  /** Connection numbers that wait for somebody, of anybody's sessions. */
  waiting(monitor: WireConnection, candidates: readonly number[]): Promise<ReadonlySet<number>>;
}

/** Variables whose value a bug report must show. */
export const isolationSettings: readonly string[] = [
  'default_storage_engine',
  'innodb_snapshot_isolation',
  'innodb_rollback_on_timeout',
  'innodb_locks_unsafe_for_binlog',
  'innodb_autoinc_lock_mode',
  'transaction_isolation',
  'tx_isolation',
  'tidb_txn_mode',
  'tidb_enable_async_commit',
  'tidb_enable_1pc',
];

const features: TargetFeatures = {
  conflicts: 'wait',
  counts: 'both',
  lockingReads: true,
  savepoints: true,
  errorDoomsTransaction: false,
  transactionalDdl: false,
  cancel: true,
  snapshotBegin: 'START TRANSACTION WITH CONSISTENT SNAPSHOT',
};

const withProcedures: TargetFeatures = { ...features, oneRequest: ['procedure'] };

const kill: MysqlFlavor['kill'] = (what, id) => `KILL ${what} ${id}`;

const innodbLevels: readonly Level[] = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'serializable',
];

const mariadb: MysqlFlavor = {
  name: 'mariadb',
  features: withProcedures,
  levels: (settings) => {
    const engine = storageEngine(settings);
    if (engine !== 'innodb') return engineLevels('mariadb', engine);
    const snapshot = settings.innodb_snapshot_isolation === 'ON';
    return innodbLevels.map((level) => ({
      level,
      begin: 'BEGIN',
      contract: contractId(
        'mariadb',
        level,
        snapshot && (level === 'repeatable read' || level === 'serializable'),
      ),
    }));
  },
  sessionSetup: (options, settings) => [
    isolationLevel(options.level),
    `${commonVariables(options)}, max_statement_time = ${options.statementTimeoutMs / 1000}`,
    ...(storageEngine(settings) === 'rocksdb'
      ? [`SET SESSION rocksdb_lock_wait_timeout = ${lockSeconds(options)}`]
      : []),
  ],
  endsSlowStatements: true,
  asksConnectionId: false,
  kill,
  hasDatabaseComments: (version) => /^1[1-9]\.|^10\.([5-9]|\d\d)\./.test(version),
  waiting: waitingInInnodb,
};

const mysql: MysqlFlavor = {
  name: 'mysql',
  features: withProcedures,
  levels: (settings) => {
    const engine = storageEngine(settings);
    return engine === 'innodb'
      ? innodbLevels.map((level) => ({ level, begin: 'BEGIN', contract: contractId('mysql', level) }))
      : engineLevels('mysql', engine);
  },
  sessionSetup: (options) => [isolationLevel(options.level), commonVariables(options)],
  // max_execution_time covers SELECT only, and old releases lack it.
  endsSlowStatements: false,
  asksConnectionId: false,
  kill,
  hasDatabaseComments: () => false,
  waiting: waitingInMysql,
};

const tidb: MysqlFlavor = {
  name: 'tidb',
  features,
  levels: () => [
    { level: 'read committed', begin: 'BEGIN PESSIMISTIC', contract: 'tidb:read-committed' },
    { level: 'repeatable read', begin: 'BEGIN PESSIMISTIC', contract: 'tidb:repeatable-read' },
    { level: 'snapshot', begin: 'BEGIN OPTIMISTIC', contract: 'tidb:snapshot+optimistic' },
  ],
  sessionSetup: (options) => {
    const optimistic = options.level === 'snapshot';
    return [
      isolationLevel(optimistic ? 'repeatable read' : options.level),
      `${commonVariables(options)}, tidb_txn_mode = '${optimistic ? 'optimistic' : 'pessimistic'}'`,
    ];
  },
  endsSlowStatements: false,
  asksConnectionId: true,
  // Without the word it would be taken for a number of another server of the cluster, and refused.
  kill: (what, id) => `KILL TIDB ${what} ${id}`,
  hasDatabaseComments: () => false,
  waiting: waitingInTidb,
};

/** The engine behind a server's version text. */
export function flavorOf(version: string): MysqlFlavor {
  if (/tidb/i.test(version)) return tidb;
  return /mariadb/i.test(version) ? mariadb : mysql;
}

function contractId(owner: string, level: Level, snapshot = false): string {
  return `${owner}:${level.replaceAll(' ', '-')}${snapshot ? '+innodb_snapshot_isolation' : ''}`;
}

/** Where tables are kept that do not name an engine. */
function storageEngine(settings: Readonly<Record<string, string>>): string {
  return (settings[engineSetting] ?? usualEngine).toLowerCase();
}

/** What sessions can be set to with tables of another engine; whether a contract says what that means is another question. */
function engineLevels(owner: 'mariadb' | 'mysql', engine: string): readonly TargetLevel[] {
  const offered = innodbLevels.filter(
    (level) => engine !== 'rocksdb' || level === 'read committed' || level === 'repeatable read',
  );
  return offered.map((level) => ({
    level,
    begin: 'BEGIN',
    contract: `${contractId(owner, level)}+${engine}`,
  }));
}

function isolationLevel(level: Level): string {
  return `SET SESSION TRANSACTION ISOLATION LEVEL ${level.toUpperCase()}`;
}

/** UTC, so that a TIMESTAMP is the same text everywhere. Lock time-outs are whole seconds: rounded up. */
function commonVariables(options: SessionOptions): string {
  const seconds = lockSeconds(options);
  return (
    `SET SESSION autocommit = 1, time_zone = '+00:00', innodb_lock_wait_timeout = ${seconds}, ` +
    `lock_wait_timeout = ${seconds}`
  );
}

function lockSeconds({ lockTimeoutMs }: SessionOptions): number {
  return Math.max(1, Math.ceil(lockTimeoutMs / 1000));
}
