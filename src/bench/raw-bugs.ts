/**
 * The bugs of the raw runs: three of real engines, and faults planted in PostgreSQL, one for each of six kinds of finding.
 *
 * A fault is narrowed to statements on one hot row (`match`), so that it is as rare as real bugs are, and does not depend on
 * how many statements went before: a count would come out differently in every free run.
 */
import type { Level } from '../contracts/index.js';

export type RawEngine = 'mariadb' | 'duckdb' | 'postgres';

export interface RawBug {
  readonly name: string;
  readonly engine: RawEngine;
  readonly level: Level;
  /** The kind of finding that shows it; an engine may show other bugs beside it. */
  readonly kind: string;
  /** Default: the contract of the engine's level. */
  readonly contract?: string;
  readonly fault?: string;
  readonly keyedOrders: boolean;
}

const planted = { engine: 'postgres', level: 'repeatable read', keyedOrders: true } as const;

export const rawBugs: readonly RawBug[] = [
  {
    ...{ name: 'no-op-update', engine: 'mariadb', level: 'repeatable read', kind: 'own-write-missed' },
    keyedOrders: true,
  },
  {
    ...{
      name: 'stale-rows-after-delete',
      engine: 'mariadb',
      level: 'repeatable read',
      kind: 'own-delete-missed',
    },
    ...{ contract: 'mariadb:repeatable-read+reported', keyedOrders: true },
  },
  {
    ...{ name: 'duckdb-17223', engine: 'duckdb', level: 'snapshot', kind: 'missing-row' },
    keyedOrders: true,
  },
  { ...planted, name: 'dirty-read', kind: 'dirty-read', fault: 'dirty-read(table=shelf)' },
  {
    ...planted,
    name: 'late-snapshot',
    kind: 'post-snapshot-read',
    fault: 'late-snapshot(match="orders WHERE id BETWEEN [0-9]*[05] ")',
  },
  { ...planted, name: 'partial-commit', kind: 'stale-read', fault: 'partial-commit(match="stock.*id = 3$")' },
  {
    ...planted,
    name: 'missed-own-write',
    kind: 'own-write-missed',
    fault: 'missed-own-write(match="id = 5$")',
  },
  {
    ...{ ...planted, name: 'visible-committed-delete', kind: 'extra-row' },
    fault: 'visible-committed-delete(match="id = [0-9]*[27]7$")',
  },
  {
    ...{ ...planted, name: 'unreported-write-conflict', kind: 'update-of-changed-row' },
    fault: 'unreported-write-conflict(table=shelf)',
  },
];
