/** Behaviours for tests: a script, the run it would have, and a finding about some of its lines. */
import { type Case, parseScript, type Schedule, serialOrder, transactionsOf } from '../cases/index.js';
import type { CycleEdge, EdgeName, Finding, FindingKind } from '../check/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Behaviour } from './behaviour.js';

export interface About extends Partial<Pick<Finding, 'oracle' | 'contract' | 'clause' | 'versions'>> {
  readonly kind: FindingKind;
  /** Lines of sessions the finding names, from 1, the judged one first. */
  readonly lines?: readonly number[];
  /** `T1 rw x T2, T2 ww x T1`: the last transaction of each session. */
  readonly cycle?: string;
}

const defaults = { oracle: 'mechanism', contract: 'duckdb:snapshot', clause: 'any' } as const;

export function behaviourOf(script: string, about: About): Behaviour {
  const { case: program, schedule = serialOrder(program) } = parseScript(script, { file: 'test' });
  const history = runOf(program, schedule);
  const { lines = [], cycle, kind, ...rest } = about;
  const named = lines.map((line) => history.operations[line - 1]!);
  const finding: Finding = {
    kind,
    certainty: 'proved',
    rulesOut: [],
    ...defaults,
    ...rest,
    transactions: [],
    operations: named.map(({ index, transaction, sql }) => ({ index, transaction, text: sql! })),
    ...(cycle === undefined ? {} : { cycle: cycleOf(cycle, program, history) }),
    explanation: [],
  };
  return { case: program, schedule, finding, history };
}

/** Everything succeeds and changes a row. */
function runOf(program: Case, schedule: Schedule): History {
  const spans = program.sessions.flatMap((_, session) => transactionsOf(program, session));
  const operations = schedule.batches.flat().map(([session, position], index): Operation => {
    const transaction = spans.findIndex(
      (span) => span.session === session && span.first <= position && position <= span.last,
    );
    const { last, end } = spans[transaction]!;
    const ends = position === last && end !== 'open' ? (end === 'rollback' ? end : 'commit') : undefined;
    const sql = program.sessions[session]!.statements[position]!;
    const times = { start: 10 * index, end: 10 * index + 5 };
    return {
      ...{ index, session, transaction, kind: 'other', statement: [session, position], sql, outcome: 'ok' },
      ...times,
      ...(ends === undefined ? {} : { ends }),
    };
  });
  return { header: { sessions: program.sessions.map(({ name }) => name) }, operations };
}

function cycleOf(text: string, program: Case, { operations }: History): CycleEdge[] {
  const transaction = (name: string) => {
    const session = program.sessions.findIndex((each) => each.name === name);
    return operations.findLast((operation) => operation.session === session)!.transaction;
  };
  return text.split(', ').map((part) => {
    const [from, kind, object, to] = part.split(' ') as [string, EdgeName, string, string];
    return { from: transaction(from), to: transaction(to), kind, object, because: [] };
  });
}
