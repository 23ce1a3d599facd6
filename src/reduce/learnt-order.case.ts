/**
 * A finding of a free run that the inferred order does not bring back: in the raw run the certifier failed one of two
 * transactions, in replays it fails nobody, and what is wrong shows only where the failed one takes its recorded outcome.
 */
import { type ScheduledCase, serialOrder } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import type { History, Operation } from '../histories/index.js';
import { classifyStatement } from '../sql/index.js';

const lines: readonly (readonly [session: number, sql: string])[] = [
  [0, 'BEGIN'],
  [1, 'BEGIN'],
  [0, 'SELECT id, v FROM t WHERE id = 1'],
  [1, 'SELECT id, v FROM t WHERE id = 2'],
  [0, 'UPDATE t SET v = 0 WHERE id = 2'],
  [0, 'COMMIT'],
  [1, 'UPDATE t SET v = 0 WHERE id = 1'],
  [1, 'COMMIT'],
];
const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1), (2, 1)'];

/** The raw run: B's COMMIT failed. */
export const rawRun: History = {
  header: { sessions: ['A', 'B'], dialect: 'postgres', level: 'serializable', setup },
  operations: lines.map(([session, sql], index) => {
    const failed = session === 1 && sql === 'COMMIT';
    return {
      ...answer(session, sql, index),
      ...(failed && {
        outcome: 'error',
        ends: 'rollback',
        error: { class: 'serialization', message: 'could not serialize' },
      }),
    };
  }),
};

function answer(session: number, sql: string, index: number): Operation {
  const { kind } = classifyStatement(sql, 'postgres');
  return {
    ...{ index, session, transaction: session, kind, sql, start: index * 10, end: index * 10 + 9 },
    outcome: 'ok',
    ...((kind === 'commit' || kind === 'rollback') && { ends: kind }),
    ...(kind === 'select' && { columns: ['id', 'v'], rows: [[session + 1, 1]] }),
    ...(kind === 'update' && { matched: 1 }),
  };
}

/** What is wrong with a run: A's UPDATE, if somebody rolled back. */
export function findingsOf({ operations }: History): Finding[] {
  const update = operations.find(({ sql }) => sql?.startsWith('UPDATE t SET v = 0 WHERE id = 2'));
  if (update === undefined || !operations.some(({ ends }) => ends === 'rollback')) return [];
  const { index, transaction, sql } = update;
  return [
    {
      kind: 'wrong-result',
      oracle: 'mechanism',
      certainty: 'proved',
      rulesOut: [],
      transactions: [],
      operations: [{ index, transaction, text: sql! }],
      explanation: [],
    },
  ];
}

/** A run on an engine that fails nobody. */
export function replayed({ case: program, schedule = serialOrder(program) }: ScheduledCase): History {
  const operations = schedule.batches.flat().map(([session, position], index) => ({
    ...answer(session, program.sessions[session]!.statements[position]!, index),
    statement: [session, position] as const,
  }));
  return { header: { ...rawRun.header, sessions: program.sessions.map(({ name }) => name) }, operations };
}
