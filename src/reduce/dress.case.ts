/** Dresses a small case in irrelevant work, the way a stress test finds bugs: for tests and benchmarks of reduction. */
import { type CaseSession, type ScheduledCase, type StatementRef, totalOrder } from '../cases/index.js';
import type { Candidate } from './candidate.js';

export interface Dress {
  /** Operations of irrelevant work, BEGIN and COMMIT not counted. */
  readonly operations: number;
  /** Extra sessions that do it, beside the case's own. */
  readonly sessions: number;
  readonly seed?: number;
}

/**
 * Irrelevant transactions on a table of their own, before, between and after the statements of the case: some in
 * sessions of their own, some inside the case's sessions where those are between transactions.
 */
export function dressed(core: ScheduledCase, { operations, sessions, seed = 1 }: Dress): Candidate {
  const random = lcg(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const names = [...core.case.sessions.map(({ name }) => name)];
  for (let s = 0; s < sessions; s++) names.push(`noise${s + 1}`);
  const texts: string[][] = names.map(() => []);
  const order: StatementRef[] = [];
  const send = (session: number, sql: string) => {
    order.push([session, texts[session]!.length]);
    texts[session]!.push(sql);
  };
  const own = core.case.sessions.length;
  const open: number[] = names.map(() => 0);
  let sent = 0;
  const noise = () => {
    const s = own + pick(sessions);
    if (open[s] === 0 && random() < 0.5) {
      send(s, 'BEGIN');
      open[s] = 2 + pick(4);
    }
    // Each session has rows of its own, so that noise never waits for noise.
    const row = s * 10 + pick(10);
    const kind = pick(3);
    if (kind === 0) send(s, `SELECT rid, w FROM noise WHERE rid = ${row}`);
    else if (kind === 1) send(s, `UPDATE noise SET w = ${sent} WHERE rid = ${row}`);
    else send(s, `SELECT rid, w FROM noise WHERE rid IN (${row}, ${s * 10 + pick(10)})`);
    sent++;
    if (open[s]! > 0 && --open[s]! === 0) send(s, 'COMMIT');
  };
  const batches = (core.schedule?.batches ?? []).flat();
  const gap = operations / (batches.length + 1);
  batches.forEach(([s, p], i) => {
    while (sent < gap * (i + 1)) noise();
    send(s, core.case.sessions[s]!.statements[p]!);
  });
  while (sent < operations) noise();
  open.forEach((left, s) => {
    if (left > 0) send(s, 'COMMIT');
  });
  const rows = names.flatMap((_, s) => Array.from({ length: 10 }, (_, r) => `(${s * 10 + r}, 0)`));
  const setup = [
    ...core.case.setup,
    'CREATE TABLE noise (rid INT, w INT)',
    `INSERT INTO noise VALUES ${rows.join(', ')}`,
  ];
  const list = names.map(
    (name, s): CaseSession => ({ ...core.case.sessions[s], name, statements: texts[s]! }),
  );
  return { case: { ...core.case, setup, sessions: list }, schedule: totalOrder(order) };
}

function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
