/**
 * Isolde's own script form: comment lines that say what the case is, set-up SQL, then labelled statements in the
 * order they are sent.
 *
 * 1. The comments at the top are read first (`script-head.ts`), for the dialect decides how quotes are read.
 * 2. The rest is cut into tokens. A label is looked for only where a token begins a line, so text inside quotes
 *    and comments is never one.
 * 3. Between labels, statements end at semicolons outside quotes. `DELIMITER //` turns that off until
 *    `DELIMITER ;`, as in MySQL's client: then a statement is whatever stands before the next `//`.
 *
 * Nothing is skipped or repaired here: what is not a label is SQL, and the database judges it.
 */
import { FileError } from '../../errors.js';
import { type Dialect, type Token, tokenize, tokensFrom } from '../../sql/index.js';
import type { ScheduledCase } from '../schedule.js';
import { readHead } from '../script-head.js';
import { CaseDraft, lineAt, type Notation, type NotationContext } from './draft.js';

export const isolde: Notation = {
  name: 'isolde script',
  example: 'T1: BEGIN',
  recognise: (text) => /^\s*--[ \t]*isolde script\b/i.test(text),
  read: readIsolde,
};

/** A label at the start of a line: `T1:`, `"odd name":`, `| T2:` (sent together with the statement before). */
const label =
  /(\|[ \t]*)?([A-Za-z_\u0080-\uffff][\w.\-\u0080-\uffff]*|"(?:[^"\\\r\n]|\\.)*")[ \t]*:(?=\s|$)/y;
// The same in a comment, where the first line says so: every client of SQL reads that.
const commentLabel =
  /\/\*[ \t]*(\|[ \t]*)?([A-Za-z_\u0080-\uffff][\w.\-\u0080-\uffff]*|"(?:[^"\\\r\n]|\\.)*")[ \t]*\*\//y;
const delimiterLine = /delimiter[ \t]+(\S+)[ \t]*(?:\r?\n|$)/iy;

/** The label at an offset of a text, and where it ends. */
export function labelAt(
  text: string,
  offset: number,
  inComment = false,
): { name: string; together: boolean; end: number } | undefined {
  const pattern = inComment ? commentLabel : label;
  pattern.lastIndex = offset;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const name = readName(match[2]!);
  return name === undefined
    ? undefined
    : { name, together: match[1] !== undefined, end: offset + match[0].length };
}

/** A session's name as it stands in a label; undefined if it is a bad quoted one. */
export function readName(text: string): string | undefined {
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

function readIsolde(text: string, context: NotationContext): ScheduledCase {
  const draft = new CaseDraft(context);
  readHead(text, draft);
  new Body(text, draft).read();
  return draft.build();
}

/** The first line of a script whose labels are comments. */
export const commentsLine = '-- isolde script, sessions in comments';

class Body {
  private readonly inComments: boolean;
  private session: string | undefined;
  private together = false;
  private start = -1;

  constructor(
    private readonly text: string,
    private readonly draft: CaseDraft,
  ) {
    this.inComments = text.trimStart().toLowerCase().startsWith(commentsLine);
  }

  read(): void {
    for (let at = 0; at < this.text.length; ) at = this.readTokens(at);
    this.finish(this.text.length);
  }

  /** Reads on from an offset until the text or a block with another delimiter ends; returns where. */
  private readTokens(from: number): number {
    let lineStart = true;
    let skipTo = 0;
    let braces = 0;
    for (const token of tokensFrom(this.text, from, this.draft.dialect)) {
      const at = token.start;
      if (at < skipTo) continue;
      if (lineStart && braces === 0) {
        delimiterLine.lastIndex = at;
        const delimiter = delimiterLine.exec(this.text);
        if (delimiter !== null) {
          this.finish(at);
          return this.readRaw(at + delimiter[0].length, delimiter[1]!);
        }
        const found = labelAt(this.text, at, this.inComments);
        if (found !== undefined) {
          this.finish(at);
          this.enter(found);
          skipTo = found.end;
          lineStart = false;
          continue;
        }
      }
      this.checkClosed(token, at);
      if (token.kind === 'space') lineStart ||= token.text.includes('\n');
      else {
        // A comment at the start of a line hides a label after it: that is how set-up SQL that looks like a label
        // is written.
        lineStart = false;
        if (token.text === ';') this.finish(at);
        else if (this.start < 0) this.start = at;
        // A struct literal may have `name: value` lines.
        if (token.text === '{') braces++;
        else if (token.text === '}') braces--;
        else if (token.text === ';') braces = 0;
      }
    }
    return this.text.length;
  }

  private enter(found: { name: string; together: boolean }): void {
    this.session = found.name;
    this.together = found.together;
    this.draft.session(found.name);
  }

  /** Statements up to `DELIMITER ;`, each ended by the delimiter wherever it stands. */
  private readRaw(from: number, delimiter: string): number {
    const space = /\s*/y;
    let ending = delimiter;
    for (let at = from; ; ) {
      space.lastIndex = at;
      at += space.exec(this.text)![0].length;
      if (at >= this.text.length) return at;
      delimiterLine.lastIndex = at;
      const change = delimiterLine.exec(this.text);
      if (change !== null) {
        at += change[0].length;
        if (change[1] === ';') return at;
        ending = change[1]!;
        continue;
      }
      const found = labelAt(this.text, at, this.inComments);
      if (found !== undefined) {
        this.enter(found);
        at = found.end;
      }
      const end = this.text.indexOf(ending, at);
      if (end < 0) this.fail(at, `a statement does not end with the delimiter ${ending}`);
      this.start = at;
      this.finish(end);
      at = end + ending.length;
    }
  }

  private finish(end: number): void {
    if (this.start < 0) return;
    const sql = this.text.slice(this.start, end);
    if (this.session === undefined) this.draft.addSetup(sql);
    else {
      const { start } = this;
      this.draft.add(this.session, sql, this.together, () => lineAt(this.text, start));
    }
    this.together = false;
    this.start = -1;
  }

  private checkClosed(token: Token, at: number): void {
    if (at + token.text.length < this.text.length || isClosed(token, this.draft.dialect)) return;
    const what = token.kind === 'comment' ? 'comment' : 'quote';
    const hint =
      token.text.includes('\\') && this.draft.dialect === undefined
        ? '; if backslashes escape in its quotes, say `-- dialect: mysql` at the top'
        : '';
    this.fail(at, `the ${what} that begins here never ends${hint}`);
  }

  private fail(at: number, problem: string): never {
    throw new FileError({ file: this.draft.context.file, line: lineAt(this.text, at) }, problem);
  }
}

/** Whether a token at the end of a text is complete: an open quote or comment would take in what follows. */
export function isClosed(token: Token, dialect: Dialect | undefined): boolean {
  if (token.kind === 'comment' && !token.text.startsWith('/*')) return true;
  if (token.kind !== 'string' && token.kind !== 'quoted' && token.kind !== 'comment') return true;
  return tokenize(`${token.text} x`, dialect).length > 1;
}
