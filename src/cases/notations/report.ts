/**
 * Reads the case out of a bug report: statements with labels, among prose, prompts and results.
 *
 * 1. Each line's label is looked for in every style people use (`session-label.ts`); the styles that name at
 *    least two sessions in front of statements win over headings and over remarks behind statements.
 * 2. Lines are gone through in order. A label changes the session; results, messages and prompts are taken off;
 *    what then begins like a statement is collected up to its semicolon (or up to what clearly is no
 *    longer part of it) and kept if it has the shape of a statement.
 * 3. What comes before the first label is the set-up. The report's "what did you expect" part, or a second test
 *    case, ends the reading.
 *
 * It guesses, by design: what it understood is printed as a script, which a person can correct.
 * `CREATE DATABASE` and `USE` are left out: a case runs in a namespace of its own.
 */
import { parseLevel } from '../../contracts/index.js';
import { type Dialect, normalizeSql, splitStatements, tokenize } from '../../sql/index.js';
import type { ScheduledCase } from '../schedule.js';
import { CaseDraft, type Notation, type NotationContext } from './draft.js';
import { isClosed } from './isolde.js';
import {
  isNoise,
  isStatement,
  isWholeLine,
  startsAnother,
  startsStatement,
  stripPrompt,
} from './report-noise.js';
import {
  type LabelStyle,
  type LineLabel,
  leadingLabel,
  trailingLabel,
  unfoldColumns,
} from './session-label.js';

export const report: Notation = {
  name: 'bug report',
  example:
    'T1> sql, t1: sql, conn_0> sql, /* t1 */ sql, "-- session 1" before statements, sql; -- txn1 after them',
  recognise: () => true,
  read: readReport,
};

function readReport(text: string, context: NotationContext): ScheduledCase {
  const dialect = context.dialect ?? guessDialect(text);
  const draft = new CaseDraft({ ...context, dialect });
  const lines = unfoldColumns(text.split(/\r?\n/)).map((line) =>
    line.trim().replace(/^(\d+[.)]|[•*-])\s+(?=\S)/, ''),
  );
  const reader = new ReportReader(draft, chooseStyles(lines));
  for (const line of lines) if (!reader.take(line)) break;
  reader.finish();
  return draft.build();
}

function guessDialect(text: string): Dialect | undefined {
  if (/\b(mysql|mariadb|tidb|innodb|auto_increment)\b|\w`|\bengine\s*=/i.test(text)) return 'mysql';
  if (/\bpostgres(ql)?\b|\bpsql\b/i.test(text)) return 'postgres';
  return undefined;
}

interface Styles {
  /** Labels in front of single lines are used throughout: headings then only describe the transactions. */
  readonly perLine: boolean;
  readonly behind: boolean;
}

function chooseStyles(lines: readonly string[]): Styles {
  const names = new Map<LabelStyle, Set<string>>();
  const note = (label: LineLabel | undefined) => {
    if (label === undefined || label.setup) return;
    const seen = names.get(label.style) ?? new Set();
    for (const session of label.sessions) seen.add(session);
    names.set(label.style, seen);
  };
  for (const line of lines) {
    const leading = leadingLabel(line);
    note(leading);
    if (leading === undefined && startsStatement(line)) note(trailingLabel(line));
  }
  const count = (...styles: LabelStyle[]) => Math.max(...styles.map((style) => names.get(style)?.size ?? 0));
  const perLine = count('comment', 'bracket', 'prompt') >= 2;
  const leading = perLine || count('colon') >= 2 || count('heading') >= 2;
  return { perLine, behind: !leading && count('trailing', 'comment') >= 1 };
}

class ReportReader {
  private sessions: readonly string[] | undefined;
  /** Under a heading that describes a transaction whose real order is given elsewhere. */
  private aside = false;
  private pending = '';

  constructor(
    private readonly draft: CaseDraft,
    private readonly styles: Styles,
  ) {}

  /** Takes a line; false when the case is over. */
  take(line: string): boolean {
    if (this.isOver(line)) return false;
    if (line === '') {
      if (isOpen(this.pending, this.draft.dialect)) this.pending += '\n';
      else this.finish();
      return true;
    }
    const level = /^\W*isolation level\W+(\w+[ -]\w+|\w+)/i.exec(line)?.[1];
    if (level !== undefined && this.pending === '') this.draft.level ??= parseLevel(level);
    const label = this.labelOf(line);
    if (label === undefined) this.takeText(line);
    else this.takeLabelled(label, line);
    return true;
  }

  /** Keeps what is collected, if it is a statement. */
  finish(): void {
    const pending = this.pending;
    this.pending = '';
    for (const { sql } of splitStatements(pending, this.draft.dialect)) this.keep(sql);
  }

  private isOver(line: string): boolean {
    if (this.draft.sessionCount === 0) return false;
    if (/^\W*\d?\W*(what did you (expect|see)|what is your \w+ version)/i.test(line)) return true;
    return this.draft.sessionCount > 1 && /^\W*(test )?case (2|b|two)\b/i.test(line);
  }

  private labelOf(line: string): LineLabel | undefined {
    const found = leadingLabel(line);
    if (found !== undefined) {
      // A word alone on a line inside a statement is part of it.
      const inside =
        found.style === 'heading' && !/^\W/.test(line) && this.pending !== '' && !isStatement(this.pending);
      return inside ? undefined : found;
    }
    return this.styles.behind && startsStatement(line) ? trailingLabel(line) : undefined;
  }

  private takeLabelled(label: LineLabel, line: string): void {
    this.finish();
    if (label.style === 'trailing' || (this.styles.behind && label.style === 'comment' && !label.setup)) {
      const before = this.sessions;
      this.sessions = label.sessions;
      this.takeText(label.rest);
      this.finish();
      // Statements nobody signed, once transactions run, are sent by whoever began: the session without a name.
      this.sessions = before ?? undefined;
      this.draft.session(label.sessions[0]!);
      return;
    }
    this.aside =
      this.styles.perLine && (label.style === 'heading' || (label.style === 'colon' && label.rest === ''));
    if (this.aside) return;
    if (!label.setup) this.sessions = label.sessions;
    else if (this.draft.sessionCount > 0) this.sessions = ['init'];
    const rest = /^`(.*)`\W*$/.exec(label.rest)?.[1] ?? label.rest;
    if (rest !== '') this.takeText(rest);
    else if (line.endsWith(';') && label.style === 'heading') this.finish();
  }

  private takeText(line: string): void {
    if (this.aside) return;
    const { rest, typed, continued } = stripPrompt(line);
    if (typed && !continued) this.finish();
    const text = cleanLine(rest);
    if (isNoise(text) && !isOpen(this.pending, this.draft.dialect)) {
      this.finish();
      return;
    }
    if (this.pending !== '' && !continued && !isOpen(this.pending, this.draft.dialect)) {
      if (startsAnother(this.pending, text)) this.finish();
    }
    if (this.pending === '' && !startsStatement(text)) return;
    this.pending += this.pending === '' ? text : `\n${text}`;
    const whole = isWholeLine(normalizeSql(this.pending, this.draft.dialect));
    if (whole || endsStatement(this.pending, this.draft.dialect)) this.finish();
  }

  private keep(sql: string): void {
    if (!isStatement(sql)) return;
    if (this.sessions !== undefined) {
      for (const session of this.sessions) this.draft.add(session, sql);
    } else if (this.styles.behind && (this.draft.sessionCount > 0 || isBeginning(sql))) {
      this.draft.add('default', sql);
    } else this.draft.addSetup(sql);
  }
}

function isBeginning(sql: string): boolean {
  return /^(begin|start transaction|set( session)? transaction|set autocommit)\b/i.test(sql);
}

/** Remarks that need no blank after `--`, the client's `\G`, results noted behind an arrow. */
function cleanLine(line: string): string {
  return line
    .replace(/\\[GgpP];?/, ';')
    .replace(/^((?:[^'"`]|'[^']*'|"[^"]*"|`[^`]*`)*?;)\s*(--|#|\/\/|<-|->|=>|\/\*(?![!+])).*$/, '$1')
    .replace(/^(commit|rollback|begin)\s*(--|#|\/\/).*$/i, '$1;');
}

function isOpen(sql: string, dialect: Dialect | undefined): boolean {
  if (sql === '') return false;
  const tokens = tokenize(sql, dialect);
  if (!isClosed(tokens.at(-1)!, dialect)) return tokens.at(-1)!.text.length < 2000;
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
  }
  return depth > 0;
}

function endsStatement(sql: string, dialect: Dialect | undefined): boolean {
  const last = tokenize(sql, dialect).findLast((token) => token.kind !== 'space' && token.kind !== 'comment');
  return last?.text === ';';
}
