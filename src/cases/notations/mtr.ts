/**
 * MySQL's and MariaDB's mtr tests: `connection c1;` says who sends what follows, the first session is `default`.
 *
 * 1. Commands of the test language (with or without `--`) are carried out where they matter (`connect`,
 *    `connection`, `send SQL`) and skipped where they do not (`--error`, `reap`, `echo`, `disconnect`, …).
 * 2. What `default` sends before another connection is made or a transaction begins is the set-up.
 *
 * Variables, loops and conditions are not evaluated: a statement that needs them reaches the database as written.
 */
import { classifyStatement, splitStatements } from '../../sql/index.js';
import type { ScheduledCase } from '../schedule.js';
import { CaseDraft, type Notation, type NotationContext } from './draft.js';
import { startsStatement } from './report-noise.js';

export const mtr: Notation = {
  name: 'mtr',
  example: 'connection c1;',
  recognise: (text) =>
    /^[ \t]*(--[ \t]*)?connect[ \t]*\([^)\n]*,/m.test(text) ||
    /^[ \t]*(--[ \t]*)?connection[ \t]+\w+[ \t]*;/m.test(text),
  read: readMtr,
};

const commands =
  /^(reap|disconnect|dirty_close|echo|error|source|sleep|real_sleep|let|eval|if|while|inc|dec|die|exit|skip|exec|system|perl|disable_\w+|enable_\w+|replace_\w+|sorted_result|vertical_results|horizontal_results|sync_\w+|save_master_pos|wait_for_\w+|query_vertical|query_horizontal|character_set|change_user|ping|reset_connection|shutdown_server|delimiter|send_quit|remove_file|write_file|cat_file|list_files|result_format|output|partially_sorted_result|lowercase_result|start_timer|end_timer|use|\})(?![\w.])/i;

function readMtr(text: string, context: NotationContext): ScheduledCase {
  const draft = new CaseDraft({ ...context, dialect: context.dialect ?? 'mysql' });
  const reader = new MtrReader(draft);
  for (const { sql } of splitStatements(markCommands(text), 'mysql')) reader.take(sql);
  return draft.build();
}

/**
 * The lines that are test, each command line a statement of its own: `--echo it's` is no SQL, and its apostrophe opens
 * no quote. Where a statement could begin, what begins none is prose around a pasted test; a fence ends the test.
 */
function markCommands(text: string): string {
  let test = '';
  let whole = true;
  let switched = false;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*```/.test(line) && switched) break;
    const command = /^\s*--\s*(\w.*)$/.exec(line)?.[1];
    if (command !== undefined) {
      switched ||= /^connection\b/i.test(command);
      test += commandLine(command);
    } else if (!/^\s*(#|```|$)/.test(line) && (!whole || startsTest(line.trim()))) {
      switched ||= /^\s*connection\b/i.test(line);
      test += `${line}\n`;
      whole = /;\s*(#.*|--\s.*)?$/.test(line) || /[{}]\s*$/.test(line);
    }
  }
  return test;
}

function startsTest(line: string): boolean {
  return startsStatement(line) || commands.test(line) || /^(connect|connection|send)\b/i.test(line);
}

function commandLine(command: string): string {
  const text = command.replace(/;\s*$/, '');
  const send = /^send(?:_eval)?\s+(.+)$/i.exec(text);
  if (send !== null) return `send ${send[1]};\n`;
  return /^(connection|connect)\b/i.test(text) ? `;${text};\n` : '\n';
}

class MtrReader {
  private session = 'default';
  private started = false;

  constructor(private readonly draft: CaseDraft) {}

  take(sql: string): void {
    const connect = /^connect\s*\(?\s*(\w+)\s*,/i.exec(sql)?.[1];
    const connection = /^connection\s+(\w+)$/i.exec(sql)?.[1];
    if (connect !== undefined || connection !== undefined) {
      this.started = true;
      this.session = (connect ?? connection)!;
      return;
    }
    const statement = sql.replace(/^send\s+(?=\w)/i, '');
    if (statement === sql && commands.test(sql)) return;
    const { kind } = classifyStatement(statement, 'mysql');
    if (kind === 'begin' || /^set\b.*\b(transaction|autocommit)\b/i.test(statement)) this.started = true;
    if (this.started) this.draft.add(this.session, statement);
    else this.draft.addSetup(statement);
  }
}
