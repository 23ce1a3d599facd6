/** Histories of instrumented cases without a database: each step sends a session's next statement and says the answer. */
import { parseScript, type ScheduledCase } from '../../cases/index.js';
import type { History, Operation } from '../../histories/index.js';
import { classifyStatement, type Dialect, type Row } from '../../sql/index.js';
import { type Instrumented, type InstrumentOptions, instrumentCase } from './index.js';

export function instrumentScript(
  text: string,
  dialect: Dialect = 'postgres',
  options: InstrumentOptions = {},
): Instrumented {
  const scheduled: ScheduledCase = parseScript(text, { file: 'test' });
  return instrumentCase(scheduled, dialect, options);
}

export interface Step {
  /** Session name. */
  readonly who: string;
  readonly rows?: readonly Row[];
  readonly count?: number;
  readonly fails?: true;
}

export interface Answers {
  readonly steps: readonly Step[];
  /** The observer's answers, one list of rows per query; the last ones may be left out. */
  readonly before?: readonly (readonly Row[])[];
  readonly after?: readonly (readonly Row[])[];
}

/** The history in which each session gets these answers. Time goes on by 10 ns per step. */
export function answered(instrumented: Instrumented, { steps, before, after }: Answers): History {
  const { sessions } = instrumented.scheduled.case;
  const positions = sessions.map(() => 0);
  const open = sessions.map(() => -1);
  const operations: Operation[] = [];
  let transactions = 0;
  let clock = 0;
  const observe = (answers: readonly (readonly Row[])[] | undefined) => {
    if (answers === undefined) return;
    for (const [i, sql] of instrumented.observe.entries()) {
      const rows = answers[i];
      operations.push({
        index: operations.length,
        session: sessions.length,
        transaction: transactions++,
        kind: 'select',
        sql,
        start: ++clock,
        end: ++clock,
        ends: 'commit',
        outcome: rows === undefined ? 'error' : 'ok',
        ...(rows === undefined ? {} : { rows }),
      });
    }
  };
  observe(before);
  for (const step of steps) {
    const session = sessions.findIndex(({ name }) => name === step.who);
    const position = positions[session]!++;
    const sql = sessions[session]!.statements[position]!;
    const { kind } = classifyStatement(sql, instrumented.dialect);
    const transaction = open[session]! >= 0 ? open[session]! : transactions++;
    const alone = open[session]! < 0 && kind !== 'begin';
    const ends =
      kind === 'rollback' || (alone && step.fails)
        ? 'rollback'
        : kind === 'commit' || alone
          ? 'commit'
          : undefined;
    open[session] = ends === undefined ? transaction : -1;
    clock += 10;
    operations.push({
      index: operations.length,
      session,
      transaction,
      kind,
      statement: [session, position],
      sql,
      start: clock,
      end: clock + 5,
      outcome: step.fails ? 'error' : 'ok',
      ...(step.fails ? { error: { class: 'other', message: 'it failed' } } : {}),
      ...(ends === undefined ? {} : { ends }),
      ...(step.rows === undefined
        ? {}
        : { rows: step.rows, columns: (step.rows[0] ?? []).map((_, i) => `c${i}`) }),
      ...(step.count === undefined ? {} : { matched: step.count }),
    });
  }
  clock += 10;
  observe(after);
  return { header: { sessions: [...sessions.map(({ name }) => name), 'observer'] }, operations };
}
