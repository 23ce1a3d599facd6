/**
 * How generated transactions begin. Each form is drawn with its own stream of choices, so that the rest of a program does not depend on
 * how its transactions are begun.
 *
 * | dialect | besides BEGIN | what it means |
 * |---|---|---|
 * | PostgreSQL | START TRANSACTION, READ WRITE; READ ONLY with DEFERRABLE | at SERIALIZABLE the last waits for a snapshot that needs no watching |
 * | MySQL | START TRANSACTION, READ WRITE, READ ONLY, WITH CONSISTENT SNAPSHOT | the last takes the snapshot at once |
 * | SQLite | DEFERRED; IMMEDIATE, EXCLUSIVE | the last two take the lock to write at once |
 * | Turso, MVCC | CONCURRENT (in place of BEGIN), and SQLite's | all others have the one lock to write |
 */
import type { Level } from '../contracts/index.js';
import { type BeginStatement, type Dialect, parseStatement } from '../sql/index.js';
import type { Capabilities } from './capabilities.js';
import type { OptionOf } from './features.js';
import type { Random } from './random.js';

/** Every way to begin a transaction that may write, the plain one first. */
export function beginForms({ dialect, unsupported }: Capabilities): readonly string[] {
  const has = (feature: Capabilities['unsupported'][number]) => !unsupported.includes(feature);
  switch (dialect) {
    case 'postgres':
      return ['BEGIN', 'START TRANSACTION', 'BEGIN READ WRITE'];
    case 'mysql':
      return [
        'BEGIN',
        'START TRANSACTION',
        ...(has('begin.snapshot') ? ['START TRANSACTION WITH CONSISTENT SNAPSHOT'] : []),
        ...(has('begin.read-only') ? ['START TRANSACTION READ WRITE'] : []),
      ];
    case 'sqlite':
      return has('begin.immediate')
        ? ['BEGIN', 'BEGIN DEFERRED', 'BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE']
        : ['BEGIN'];
    case 'duckdb':
      return ['BEGIN', 'BEGIN TRANSACTION'];
    default:
      return dialect satisfies never;
  }
}

/** What an option is called where a dialect says no more. */
const usual: Readonly<Record<Exclude<OptionOf<'begin'>, 'autocommit'>, string>> = {
  plain: 'BEGIN',
  'read-only': 'BEGIN READ ONLY',
  snapshot: 'START TRANSACTION WITH CONSISTENT SNAPSHOT',
  immediate: 'BEGIN IMMEDIATE',
};

/** Of each option of the group `begin` the usual form, then those that differ in words or in locks. */
const spellings: Readonly<Record<Dialect, Partial<Record<OptionOf<'begin'>, readonly string[]>>>> = {
  postgres: {
    plain: ['BEGIN', 'BEGIN READ WRITE', 'START TRANSACTION'],
    'read-only': ['BEGIN READ ONLY', 'BEGIN READ ONLY, DEFERRABLE'],
  },
  mysql: {
    plain: ['BEGIN', 'START TRANSACTION'],
    'read-only': ['START TRANSACTION READ ONLY'],
  },
  sqlite: {
    plain: ['BEGIN', 'BEGIN DEFERRED'],
    immediate: ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE'],
  },
  duckdb: {
    // DuckDB wants the word TRANSACTION before modes.
    'read-only': ['START TRANSACTION READ ONLY'],
  },
};

/** How many transactions of an option begin in another than its usual form. */
const otherShare = 0.15;

/** The BEGIN of an option that was drawn; `random` is a stream of its own. */
export function drawBegin(
  option: keyof typeof usual,
  { dialect, unsupported }: Capabilities,
  random: Random,
): BeginStatement {
  const other = random.chance(otherShare);
  const forms = spellings[dialect][option] ?? [usual[option]];
  // DEFERRED is refused where IMMEDIATE is.
  const spelt = dialect === 'sqlite' && unsupported.includes('begin.immediate') ? forms.slice(0, 1) : forms;
  const picked = random.below(Math.max(spelt.length - 1, 1)) + 1;
  return parseStatement((other ? spelt[picked] : undefined) ?? spelt[0]!, dialect) as BeginStatement;
}

/** The BEGIN to write at a level in place of a plain one, which is another thing there; undefined: a plain one serves. */
export function ownBegin({ begins = {} }: Capabilities, level: Level | undefined): string | undefined {
  const all = Object.values(begins);
  if (level === undefined) return all.length === 1 ? all[0] : undefined;
  return begins[level];
}
