/**
 * Histories written by hand, for tests: a probe case whose statements all worked, in the order of its schedule,
 * except where the test says otherwise. `answered(probe, { 'T2 3': { rows: [[1, 10]] } })` sets what statement 3 of T2
 * (from 0, BEGIN included) answered.
 */
import type { History, Operation } from '../histories/index.js';
import { classifyStatement } from '../sql/index.js';
import type { ProbeCase } from './probe-case.js';

export type Answers = Readonly<Record<string, Partial<Operation> | 'not sent'>>;

export function answered(probe: ProbeCase, answers: Answers = {}): History {
  const sessions = probe.case.sessions.map(({ name }) => name);
  const operations: Operation[] = [];
  probe.schedule.batches.flat().forEach(([session, position], at) => {
    const answer = answers[`${sessions[session]} ${position}`] ?? {};
    if (answer === 'not sent') return;
    const sql = probe.case.sessions[session]!.statements[position]!;
    const { kind } = classifyStatement(sql);
    operations.push({
      index: operations.length,
      session,
      // Each session runs one transaction.
      transaction: Number(session),
      kind,
      statement: [session, position],
      sql,
      start: at * 1000,
      end: at * 1000 + 500,
      outcome: answer.error === undefined ? 'ok' : 'error',
      ...(kind === 'commit' && answer.error === undefined && { ends: 'commit' }),
      ...(kind === 'rollback' && { ends: 'rollback' }),
      ...(kind === 'select' && answer.error === undefined && { columns: ['id', 'value'], rows: [] }),
      ...(['update', 'delete', 'insert'].includes(kind) && { matched: 1, changed: 1 }),
      ...answer,
    });
  });
  return {
    header: { sessions, target: { name: 'scripted', version: '1' }, level: 'snapshot', case: probe.id },
    operations,
  };
}
