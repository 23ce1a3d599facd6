/**
 * Which tables a statement uses, for what, and how their rows must be read around it so that the read sees what the statement
 * sees (TxCheck §3.2: before-write, after-write and version-set reads).
 *
 * TxCheck repeats the statement's condition before a write and looks for the version key after it. Here a write marks the rows it
 * writes with a list of all their writers, so whole tables, read before and after, say all of that: the rows it changed or took
 * away, the versions it found there, and every row it may have looked at.
 *
 * What a read must be like, by the contract:
 * - Statements that see one snapshot, or the newest committed rows whenever they come: a plain SELECT right beside them.
 * - Writes and locking reads that see the newest rows while plain reads see a snapshot (InnoDB's REPEATABLE READ): LOCK IN SHARE
 *   MODE. A plain SELECT would see other rows, and would take the snapshot before its time.
 * - Where a contract says that subqueries of a condition see the snapshot (`subqueriesSee`), these are plain all the same.
 */

import type { Contract } from '../../contracts/index.js';
import type { Dialect, SelectStatement, Statement } from '../../sql/index.js';
import { nameKey } from '../../sql/index.js';
import type { Frame, TableRead } from '../instrument/instrumented.js';
import { leavesOf, tableNames, walk } from '../instrument/tree.js';
import { commonTables } from './steady.js';

/**
 * What a statement uses a table for. `items`: it returns every row. `predicate`: rows of it decide which rows are returned or
 * written. `value`: they only decide what is written. `target`: its rows are written. `inserted`: it gets new rows whatever it
 * holds, keys apart.
 */
export type TableUse = 'items' | 'predicate' | 'value' | 'target' | 'inserted';

export interface UsedTable extends TableRead {
  readonly use: TableUse;
}

/** Why the rows that statements see cannot be read beside them; undefined: they can. */
export function unreadable({ id, mechanism }: Contract): string | undefined {
  if (mechanism === undefined) return `the contract ${id} does not say what statements see`;
  if (mechanism.pivot === 'uncommitted') return `${id} lets statements see rows that may never be committed`;
  if (mechanism.shareLocksNothing === true)
    return `by ${id} a locking read does not lock, so nobody sees what a write will see`;
  if (mechanism.otherNodesLag === true)
    return `by ${id} the same statements may see other rows when they run again: a node may be behind`;
  return undefined;
}

interface Setting {
  readonly inTransaction: boolean;
  readonly contract: Contract;
  readonly dialect: Dialect;
}

/** The tables a statement uses; undefined: it sees two states of one table at once, which no single read shows. */
export function usedTables(
  statement: Statement,
  { inTransaction, contract, dialect }: Setting,
): readonly UsedTable[] | undefined {
  const ctes = new Set(commonTables(statement, dialect));
  const used = new Map<string, UsedTable>();
  for (const [tree, use, locking] of partsOf(statement, sightOf(contract, inTransaction))) {
    for (const table of tableNames(tree)) {
      const key = nameKey(table, dialect);
      if (ctes.has(key)) continue;
      const known = used.get(key);
      if (known !== undefined && known.locking !== locking) return undefined;
      if (known === undefined) used.set(key, { table, use, locking });
    }
  }
  return [...used.values()];
}

/** The tables to read before and after a statement. */
export function frameOf(tables: readonly UsedTable[]): Frame {
  return {
    before: tables.filter(({ use }) => use !== 'inserted'),
    after: tables.filter(({ use }) => use === 'target' || use === 'inserted'),
  };
}

interface Sight {
  /** Writes, and locking reads, see the newest rows though plain reads do not. */
  readonly writes: boolean;
  readonly lockingReads: boolean;
  /** Subqueries of conditions do as writes do. */
  readonly conditions: boolean;
}

function sightOf({ mechanism }: Contract, inTransaction: boolean): Sight {
  const { pivot, writesSee, lockingReadsSee, subqueriesSee } = mechanism!;
  // A statement of its own, or one with a snapshot of its own, sees what is committed, whatever it is.
  const one = !inTransaction || pivot === 'statement';
  const writes = !one && writesSee === 'current';
  return {
    writes,
    lockingReads: !one && lockingReadsSee === 'current',
    conditions: writes && subqueriesSee !== 'snapshot',
  };
}

type Part = readonly [tree: unknown, use: TableUse, locking: boolean];

/** First come the parts that say most about a table. */
function partsOf(statement: Statement, sight: Sight): Part[] {
  switch (statement.type) {
    case 'select':
      return selectParts(statement, sight);
    case 'insert': {
      const { table, source, conflict, mode, with: clause } = statement;
      const meets = conflict !== undefined || mode !== undefined || tableNames(source).includes(table.name);
      return [
        [table, meets ? 'target' : 'inserted', sight.writes],
        [[source, conflict, clause], 'value', sight.writes],
      ];
    }
    case 'update': {
      const { table, moreTables, from, where, set, with: clause } = statement;
      return [
        [[table, moreTables], 'target', sight.writes],
        [[where], 'predicate', sight.conditions],
        [[from, clause], 'predicate', sight.writes],
        [set, 'value', sight.writes],
      ];
    }
    case 'delete': {
      const { table, using, where, with: clause } = statement;
      return [
        [table, 'target', sight.writes],
        [[where], 'predicate', sight.conditions],
        [[using, clause], 'predicate', sight.writes],
      ];
    }
    case 'merge': {
      const { table, using, on, whens, with: clause } = statement;
      return [
        [table, 'target', sight.writes],
        [[using, on, clause], 'predicate', sight.writes],
        [whens, 'value', sight.writes],
      ];
    }
    default:
      return [];
  }
}

function selectParts(statement: SelectStatement, { lockingReads }: Sight): Part[] {
  const locking = lockingReads && statement.locks.length > 0;
  const { body } = statement;
  if (body.type !== 'core') return [[statement, 'predicate', locking]];
  const whole = body.where === undefined && body.having === undefined && statement.limit === undefined;
  const leaves = leavesOf(body.from).filter(({ type }) => type === 'table');
  const all = whole && body.from.length === 1 && leaves.length === 1 && leaves[0] === body.from[0];
  // A locking clause does not reach into subqueries.
  return [
    [leaves, all ? 'items' : 'predicate', locking],
    [statement, 'predicate', leavesAlone(statement, leaves) ? locking : false],
  ];
}

/** Whether a query has no table but those of its own FROM. */
function leavesAlone(statement: SelectStatement, leaves: readonly unknown[]): boolean {
  // A subquery of the same table is another use of it: names would not tell.
  let uses = 0;
  walk(statement, (node) => {
    if (node.type === 'table') uses++;
  });
  return uses === leaves.length;
}
