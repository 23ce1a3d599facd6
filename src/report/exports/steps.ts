/**
 * A bug as steps to send: the case's SQL in the order of the schedule, with what came back. Statements that were never sent are left
 * out. Whoever sends them may have sessions of another level, so in PostgreSQL a plain BEGIN names the level it had.
 */
import type { Level } from '../../contracts/index.js';
import type { Operation } from '../../histories/index.js';
import { classifyStatement } from '../../sql/index.js';
import type { Bug } from '../bug.js';
import { operationOf, witnessOperations } from '../evidence.js';

export interface ReplayStep {
  readonly session: number;
  readonly sql: string;
  readonly operation: Operation;
  /** Its answer is part of what shows the bug. */
  readonly witness: boolean;
}

/** The steps, batch by batch. */
export function replayBatches(bug: Bug): ReplayStep[][] {
  const witnesses = new Set(witnessOperations(bug));
  const { header, operations } = bug.history;
  // A session that sets something may have set its level.
  const setting = new Set(operations.flatMap(({ session, kind }) => (kind === 'set' ? [session] : [])));
  const namesLevel = (session: number) => header.dialect === 'postgres' && !setting.has(session);
  return bug.schedule.batches.flatMap((batch) => {
    const steps = batch.flatMap(([session, position]): ReplayStep[] => {
      const operation = operationOf(bug.history, [session, position]);
      if (operation === undefined) return [];
      const written = bug.case.sessions[session]!.statements[position]!;
      const sent = operation.sql ?? written;
      const isBegin = operation.kind === 'begin';
      const sql = !isBegin ? written : namesLevel(session) ? beginOf(bug, session, sent) : sent;
      return [{ session, sql, operation, witness: witnesses.has(operation) }];
    });
    return steps.length === 0 ? [] : [steps];
  });
}

function beginOf(bug: Bug, session: number, sql: string): string {
  if (!classifyStatement(sql, bug.history.header.dialect).plainBegin) return sql;
  return `BEGIN ISOLATION LEVEL ${levelOf(bug, session).toUpperCase()}`;
}

export function levelOf({ history, level }: Bug, session: number): Level {
  return history.header.sessionLevels?.[String(session)] ?? level;
}

/** Session names as plain words, each once: what every notation accepts. */
export function plainNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  return names.map((name, i) => {
    const plain = /^[A-Za-z]\w{0,20}$/.test(name) && !/^default$/i.test(name) ? name : `s${i + 1}`;
    let unique = used.has(plain.toLowerCase()) ? `s${i + 1}x` : plain;
    while (used.has(unique.toLowerCase())) unique += 'x';
    used.add(unique.toLowerCase());
    return unique;
  });
}

const name = '(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|[^\\s("`.]+)';
const createTable = new RegExp(
  `^\\s*CREATE\\s+TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?(${name}(?:\\s*\\.\\s*${name})*)`,
  'i',
);

/** The tables a set-up creates, as they are spelt, in the order to drop them. */
export function createdTables(setup: readonly string[]): string[] {
  return setup.flatMap((sql) => createTable.exec(sql)?.[1] ?? []).reverse();
}
