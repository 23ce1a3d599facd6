/**
 * What a report shows, as the 33 features that bear on isolation of the 55 which a study of transaction bugs lists: the
 * engine, the level, the mode of concurrency control, the number of transactions, and 29 things a report has or has not.
 *
 * Left out of the published 34 columns: whether a report is deterministic. That is known of reports, not of cases.
 */
import { type Level, levels } from '../contracts/index.js';

/** Kinds of statements inside transactions, in the order of the study. */
export const statementFlags = [
  'begin',
  'start-transaction',
  'consistent-snapshot',
  'autocommit-off',
  'commit',
  'rollback',
  'select',
  'select-for-share',
  'select-for-update',
  'insert',
  'replace',
  'update',
  'delete',
  'alter',
  'create-or-drop',
  'check-table',
  'show',
  'set',
  'comment-on',
  'reset',
  'savepoint',
  'analyze',
  'admin',
  'explain',
] as const;

/** What a report has or has not: kinds of statements, then what tables and set-up have. */
export const flags = [...statementFlags, 'cluster', 'key', 'index', 'constraint', 'partition'] as const;
export type Flag = (typeof flags)[number];

export const modes = ['pessimistic', 'optimistic', 'both', 'unspecified'] as const;
export type Mode = (typeof modes)[number];

export interface Features {
  /** Levels it shows at; none: the report does not say, or it does not matter. */
  readonly levels: readonly Level[];
  readonly mode: Mode;
  /** Transactions that take part; absent: not known. */
  readonly transactions?: number;
  readonly has: readonly Flag[];
}

/** More transactions than this count as so many: one report of a thousand must not make all others look alike. */
const mostTransactions = 8;

/** The components of a report's vector, by name: one-hot for what is named, `[0, 1]` for the number of transactions. */
export function encode(engine: string, features: Features): ReadonlyMap<string, number> {
  const vector = new Map<string, number>([
    [`engine=${engine}`, 1],
    [`mode=${features.mode}`, 1],
  ]);
  if (features.levels.length === 0) vector.set('level=any', 1);
  for (const level of levels) if (features.levels.includes(level)) vector.set(`level=${level}`, 1);
  if (features.transactions !== undefined)
    vector.set('transactions', Math.min(features.transactions, mostTransactions) / mostTransactions);
  for (const flag of flags) if (features.has.includes(flag)) vector.set(flag, 1);
  return vector;
}
