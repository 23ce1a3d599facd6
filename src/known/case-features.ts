/**
 * The features of a case, told from its statements by their words. Statements of sessions count, set-up only for what it says
 * of tables, as in the study: a CREATE TABLE before the transactions is not one of theirs.
 */
import { type Case, transactionsOf } from '../cases/index.js';
import { contractsOf, type Level } from '../contracts/index.js';
import type { Features, Flag, Mode } from './features.js';

const statementRules: readonly (readonly [Flag, RegExp])[] = [
  ['begin', /^BEGIN\b/i],
  ['start-transaction', /^(START TRANSACTION(?!.*CONSISTENT SNAPSHOT)|XA (START|BEGIN))\b/i],
  ['consistent-snapshot', /^START TRANSACTION\b.*\b(CONSISTENT SNAPSHOT|READ ONLY)\b/i],
  ['autocommit-off', /^SET\b.*\bAUTOCOMMIT\s*=\s*(0|OFF)\b/i],
  ['commit', /^(COMMIT|END|XA COMMIT)\b/i],
  ['rollback', /^(ROLLBACK(?! (WORK )?TO\b)|ABORT|XA ROLLBACK)\b/i],
  ['select-for-share', /^(SELECT|WITH)\b.*\b(FOR SHARE|FOR KEY SHARE|LOCK IN SHARE MODE)\b/is],
  ['select-for-update', /^(SELECT|WITH)\b.*\bFOR (NO KEY )?UPDATE\b/is],
  [
    'select',
    /^(SELECT|WITH|TABLE|VALUES)\b(?!.*\b(FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE|LOCK IN SHARE MODE)\b)/is,
  ],
  ['insert', /^INSERT\b/i],
  ['replace', /^REPLACE\b/i],
  ['update', /^UPDATE\b/i],
  ['delete', /^DELETE\b/i],
  ['alter', /^ALTER\b/i],
  ['create-or-drop', /^(CREATE|DROP|TRUNCATE)\b/i],
  ['check-table', /^CHECK TABLE\b/i],
  ['show', /^SHOW\b/i],
  ['set', /^(SET|PRAGMA)\b/i],
  ['comment-on', /^COMMENT ON\b/i],
  ['reset', /^RESET\b/i],
  ['savepoint', /^(SAVEPOINT|ROLLBACK (WORK )?TO|RELEASE SAVEPOINT)\b/i],
  ['analyze', /^ANALYZE\b/i],
  ['admin', /^ADMIN\b/i],
  ['explain', /^EXPLAIN\b/i],
];
const tableRules: readonly (readonly [Flag, RegExp])[] = [
  ['key', /\b(PRIMARY KEY|UNIQUE)\b/i],
  ['index', /\bCREATE INDEX\b|,\s*(INDEX|KEY)\b/i],
  ['constraint', /\b(NOT NULL|DEFAULT|AUTO_INCREMENT|REFERENCES|CHECK\s*\(|GENERATED)\b/i],
  ['partition', /\bPARTITION BY\b/i],
];

/** What a statement of a transaction is; a statement may be several things. */
export function flagsOfStatement(sql: string): Flag[] {
  return statementRules.flatMap(([flag, rule]) => (rule.test(sql) ? [flag] : []));
}

/** What a set-up says of its tables. */
export function flagsOfTables(sql: string): Flag[] {
  return tableRules.flatMap(([flag, rule]) => (rule.test(sql) ? [flag] : []));
}

/** How an engine treats transactions that meet, unless they say otherwise: by its vendor’s contracts. */
export function modeOf(engine: string | undefined): Mode {
  const protocols = contractsOf(engine ?? '').flatMap(({ mechanism }) => mechanism?.protocol ?? []);
  if (protocols.length === 0) return 'unspecified';
  // Where both are offered, waiting is the default (TiDB).
  return protocols.includes('locking') ||
    !protocols.some((each) => each === 'optimistic' || each === 'timestamp')
    ? 'pessimistic'
    : 'optimistic';
}

export interface CaseSetting {
  /** As targets are called. */
  readonly engine?: string | undefined;
  /** Of the run, where the case names none. */
  readonly level?: Level | undefined;
}

export function caseFeatures(program: Case, { engine, level }: CaseSetting = {}): Features {
  const statements = program.sessions.flatMap((session) => session.statements);
  const has = new Set([
    ...statements.flatMap(flagsOfStatement),
    ...program.setup.flatMap(flagsOfTables),
    ...statements.filter((sql) => /^(CREATE|ALTER)\b/i.test(sql)).flatMap(flagsOfTables),
  ]);
  const levels = [program.level ?? level, ...program.sessions.map((session) => session.level)];
  const optimistic = statements.some((sql) => /^(BEGIN|START TRANSACTION)\b.*\bOPTIMISTIC\b/i.test(sql));
  return {
    levels: [...new Set(levels.flatMap((each) => each ?? []))],
    mode: optimistic ? 'optimistic' : modeOf(engine),
    transactions: program.sessions.reduce((sum, _, s) => sum + transactionsOf(program, s).length, 0),
    has: [...has].sort(),
  };
}
