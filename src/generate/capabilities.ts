/**
 * What a target can run, as data: what it is known to refuse, plus what its answers have taught us since.
 *
 * The tables below are declarations; `learn.ts` adds to them from histories. Capabilities are plain JSON, so what was
 * learned about an engine can be kept and used again.
 */
import type { Dialect } from '../sql/index.js';
import type { Feature } from './features.js';

export interface Capabilities {
  /** The target's name: `postgres`, `mariadb`, … */
  readonly target: string;
  readonly dialect: Dialect;
  /** Left out of every case. */
  readonly unsupported: readonly Feature[];
  /** Proven by a statement that ran: never blamed for a failure. */
  readonly proven?: readonly Feature[];
  readonly generated: 'stored' | 'virtual';
  /** How a shared row lock is asked for. */
  readonly shareLock: 'share' | 'share mode';
  /** An error inside a transaction makes all of it void. */
  readonly errorDoomsTransaction: boolean;
  /** DuckDB rewrites an update of an indexed column as delete and insert, which a referenced row does not survive. */
  readonly plainParents?: true;
}

/** What no dialect of SQLite's and DuckDB's family has. */
const noLocks: readonly Feature[] = ['lock.update', 'lock.share', 'wait.nowait', 'wait.skip-locked'];

const declared = {
  postgres: {
    dialect: 'postgres',
    unsupported: ['begin.snapshot', 'begin.immediate', 'statement.replace'],
    generated: 'stored',
    shareLock: 'share',
    errorDoomsTransaction: true,
  },
  cockroach: {
    dialect: 'postgres',
    unsupported: ['begin.snapshot', 'begin.immediate', 'statement.replace', 'statement.merge'],
    generated: 'stored',
    shareLock: 'share',
    errorDoomsTransaction: true,
  },
  mysql: {
    dialect: 'mysql',
    unsupported: [
      'begin.immediate',
      'statement.merge',
      'index.partial',
      'write.returning',
      'write.self-subquery',
    ],
    generated: 'stored',
    shareLock: 'share mode',
    errorDoomsTransaction: false,
  },
  mariadb: {
    dialect: 'mysql',
    unsupported: ['begin.immediate', 'statement.merge', 'index.partial', 'write.returning'],
    generated: 'stored',
    shareLock: 'share mode',
    errorDoomsTransaction: false,
  },
  tidb: {
    dialect: 'mysql',
    unsupported: [
      'begin.immediate',
      'begin.read-only',
      'statement.merge',
      'index.partial',
      'lock.share',
      'wait.skip-locked',
      'write.returning',
      'write.self-subquery',
    ],
    generated: 'stored',
    shareLock: 'share mode',
    errorDoomsTransaction: false,
  },
  sqlite: {
    dialect: 'sqlite',
    unsupported: [...noLocks, 'begin.read-only', 'begin.snapshot', 'statement.merge'],
    generated: 'stored',
    shareLock: 'share',
    errorDoomsTransaction: false,
  },
  turso: {
    dialect: 'sqlite',
    unsupported: [
      ...noLocks,
      'begin.read-only',
      'begin.snapshot',
      'begin.immediate',
      'statement.merge',
      // Behind a switch of the engine's.
      'column.generated',
      'window.lag',
    ],
    generated: 'virtual',
    shareLock: 'share',
    errorDoomsTransaction: false,
  },
  duckdb: {
    dialect: 'duckdb',
    unsupported: [...noLocks, 'begin.snapshot', 'begin.immediate', 'index.partial', 'statement.savepoint'],
    generated: 'virtual',
    shareLock: 'share',
    errorDoomsTransaction: true,
    plainParents: true,
  },
} as const satisfies Record<string, Omit<Capabilities, 'target'>>;

/** Targets whose capabilities are declared. */
export const knownTargets: readonly string[] = Object.keys(declared);

/** The target whose capabilities a dialect has when nothing more is known: its plainest engine. */
const byDialect: Readonly<Record<Dialect, keyof typeof declared>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  sqlite: 'sqlite',
  duckdb: 'duckdb',
};

/** What a target is declared to support; one we have no table for gets its dialect's, and learns. */
export function capabilitiesOf(target: { readonly name: string; readonly dialect: Dialect }): Capabilities {
  const name = Object.hasOwn(declared, target.name)
    ? (target.name as keyof typeof declared)
    : byDialect[target.dialect];
  return { target: target.name, ...declared[name] };
}

/** Capabilities by the name of a target or dialect. */
export function findCapabilities(name: string): Capabilities | undefined {
  if (!Object.hasOwn(declared, name)) return undefined;
  return { target: name, ...declared[name as keyof typeof declared] };
}
