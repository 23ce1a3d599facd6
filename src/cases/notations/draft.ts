/** Collects the statements of a text in the order they are sent, and makes a case with its schedule of them. */
import { FileError } from '../../errors.js';
import { type Dialect, normalizeSql } from '../../sql/index.js';
import type { Case, StatementRef } from '../case.js';
import type { ScheduledCase } from '../schedule.js';

type Level = NonNullable<Case['level']>;

/** What a text is read with. */
export interface NotationContext {
  readonly file: string;
  /** The case's name if the text gives none. */
  readonly name: string;
  readonly dialect?: Dialect | undefined;
}

/** One way of writing down sessions and their statements. */
export interface Notation {
  readonly name: string;
  /** How it looks, for the message that says what is accepted. */
  readonly example: string;
  recognise(text: string): boolean;
  read(text: string, context: NotationContext): ScheduledCase;
}

export class CaseDraft {
  name: string | undefined;
  description: string | undefined;
  dialect: Dialect | undefined;
  level: Level | undefined;
  /** Whether the order of the statements is a schedule or only the order of writing. */
  scheduled = true;
  readonly setup: string[] = [];
  private readonly sessions = new Map<string, { readonly number: number; readonly statements: string[] }>();
  private readonly levels = new Map<string, Level>();
  private readonly batches: StatementRef[][] = [];

  constructor(readonly context: NotationContext) {
    this.dialect = context.dialect;
  }

  get sessionCount(): number {
    return this.sessions.size;
  }

  /** Makes a session known, even if it never sends anything. */
  session(name: string): void {
    this.known(name);
  }

  setLevel(session: string, level: Level): void {
    this.levels.set(session, level);
  }

  addSetup(sql: string): void {
    const normal = normalizeSql(sql, this.dialect);
    if (normal !== '') this.setup.push(normal);
  }

  private known(name: string): { readonly number: number; readonly statements: string[] } {
    const known = this.sessions.get(name);
    if (known !== undefined) return known;
    const added = { number: this.sessions.size, statements: [] };
    this.sessions.set(name, added);
    return added;
  }

  /** The next statement of a session; `together`: in one batch with the statement before. `line` is asked where it fails. */
  add(session: string, sql: string, together = false, line?: () => number): void {
    const normal = normalizeSql(sql, this.dialect);
    if (normal === '') return;
    const { number, statements } = this.known(session);
    const ref: StatementRef = [number, statements.length];
    statements.push(normal);
    const last = this.batches.at(-1);
    if (!together || last === undefined) this.batches.push([ref]);
    else if (last.some(([other]) => other === ref[0])) {
      const { file } = this.context;
      throw new FileError(
        { file, line: line?.() },
        `session ${session} cannot send two statements at once (a "|" joins them)`,
      );
    } else last.push(ref);
  }

  build(): ScheduledCase {
    for (const session of this.levels.keys()) {
      if (this.sessions.has(session)) continue;
      const known = [...this.sessions.keys()].join(', ');
      throw new FileError(
        { file: this.context.file, field: `level ${session}` },
        `there is no session ${session}; sessions are ${known}`,
      );
    }
    const program: Case = {
      name: this.name ?? this.context.name,
      ...(this.description === undefined ? {} : { description: this.description }),
      ...(this.dialect === undefined ? {} : { dialect: this.dialect }),
      ...(this.level === undefined ? {} : { level: this.level }),
      setup: this.setup,
      sessions: [...this.sessions].map(([name, { statements }]) => {
        const level = this.levels.get(name);
        return level === undefined ? { name, statements } : { name, level, statements };
      }),
    };
    return this.scheduled ? { case: program, schedule: { batches: this.batches } } : { case: program };
  }
}

/** The number, from 1, of the line an offset is on. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
