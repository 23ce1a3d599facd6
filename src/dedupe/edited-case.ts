/**
 * A case and its schedule as one list of steps, so that an edit is an edit of the list: statements that are added run alone, just
 * before or after the step they belong to; the others keep their batches.
 */
import type { Case, CaseSession, ScheduledCase, StatementRef } from '../cases/index.js';

export interface Step {
  readonly session: number;
  readonly position: number;
  readonly sql: string;
}

export interface Edit {
  /** Statements to run in place of this step; itself among them or not. Default: the step as it is. */
  readonly replace?: ReadonlyMap<Step, readonly string[]>;
  /** Statements that the set-up ends with. */
  readonly setup?: readonly string[];
  /** Statements of a session of their own, when all is over. */
  readonly after?: readonly string[];
  /** Statements that a session runs before everything. */
  readonly before?: { readonly session: number; readonly statements: readonly string[] };
}

/** In the order of the schedule. */
export function stepsOf({ case: program, schedule }: Required<ScheduledCase>): Step[][] {
  return schedule.batches.map((batch) =>
    batch.flatMap(([session, position]): Step[] => {
      const sql = program.sessions[session]?.statements[position];
      return sql === undefined ? [] : [{ session, position, sql }];
    }),
  );
}

/** `steps`: those of `stepsOf`, by which the edit names what it changes. */
export function edited(
  program: Case,
  steps: readonly (readonly Step[])[],
  edit: Edit,
): Required<ScheduledCase> {
  const statements: string[][] = program.sessions.map(() => []);
  const batches: StatementRef[][] = [];
  const add = (session: number, sql: string): StatementRef => [session, statements[session]!.push(sql) - 1];
  for (const sql of edit.before?.statements ?? []) batches.push([add(edit.before!.session, sql)]);
  for (const batch of steps) {
    const lists = batch.map((step) => edit.replace?.get(step) ?? [step.sql]);
    const own = lists.map((list, i) => Math.max(0, list.indexOf(batch[i]!.sql)));
    batch.forEach(({ session }, i) => {
      for (const sql of lists[i]!.slice(0, own[i])) batches.push([add(session, sql)]);
    });
    batches.push(
      batch.flatMap(({ session }, i) => {
        const sql = lists[i]![own[i]!];
        return sql === undefined ? [] : [add(session, sql)];
      }),
    );
    batch.forEach(({ session }, i) => {
      for (const sql of lists[i]!.slice(own[i]! + 1)) batches.push([add(session, sql)]);
    });
  }
  const sessions: CaseSession[] = program.sessions.map((session, s) => ({
    ...session,
    statements: statements[s]!,
  }));
  if (edit.after !== undefined && edit.after.length > 0) {
    const name = freeName('later', new Set(sessions.map((session) => session.name)));
    for (const position of edit.after.keys()) batches.push([[sessions.length, position]]);
    sessions.push({ name, statements: edit.after });
  }
  return {
    case: { ...program, setup: [...program.setup, ...(edit.setup ?? [])], sessions },
    schedule: { batches: batches.filter((batch) => batch.length > 0) },
  };
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let i = 2; taken.has(name); i++) name = `${wanted}${i}`;
  return name;
}
