/**
 * Rounds on several nodes. Every session is named after its node (`execute/nodes.ts`), so that a part of the case still runs where it ran
 * in the whole. Where a node takes no writes, most programs would leave it idle: they get a session more that reads every table,
 * twice in one transaction and once behind it, while the others write.
 */
import type { Case, Schedule, StatementRef } from '../cases/index.js';
import { placeSessions } from '../execute/index.js';
import type { Random } from '../generate/index.js';
import type { Target } from '../targets/index.js';
import { afterSession } from './closing-reads.js';

const readerSession = 'reader';

interface Program {
  readonly case: Case;
  /** Absent: a free run. */
  readonly schedule?: Schedule;
}

export function onNodes(
  program: Program,
  target: Pick<Target, 'nodes' | 'dialect'>,
  { reads, random }: { readonly reads: readonly string[]; readonly random: Random },
): Program {
  const hasReaders = target.nodes?.some(({ readOnly }) => readOnly === true) === true;
  const { case: read, schedule } = hasReaders ? withReader(program, reads, random) : program;
  return { case: placeSessions(read, target), ...(schedule !== undefined && { schedule }) };
}

function withReader({ case: program, schedule }: Program, reads: readonly string[], random: Random): Program {
  if (reads.length === 0) return { case: program, ...(schedule !== undefined && { schedule }) };
  const statements = ['BEGIN', ...reads, ...reads, 'COMMIT', ...reads];
  const session = program.sessions.length;
  const read: Case = { ...program, sessions: [...program.sessions, { name: readerSession, statements }] };
  if (schedule === undefined) return { case: read };
  // What reads the final state stays last.
  const after = program.sessions.findIndex(({ name }) => name === afterSession);
  const first = schedule.batches.findIndex((batch) => batch.some(([s]) => s === after));
  const end = first < 0 ? schedule.batches.length : first;
  const places = statements.map(() => random.below(end + 1)).sort((a, b) => a - b);
  const batches: (readonly StatementRef[])[] = [];
  schedule.batches.forEach((batch, i) => {
    places.forEach((place, position) => {
      if (place === i) batches.push([[session, position]]);
    });
    batches.push(batch);
  });
  places.forEach((place, position) => {
    if (place === schedule.batches.length) batches.push([[session, position]]);
  });
  return { case: read, schedule: { ...schedule, batches } };
}
