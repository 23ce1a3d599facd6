/**
 * The comment lines at the top of a script that say what the case is:
 *
 *     -- isolde script
 *     -- name: lost update
 *     -- description: one line each; several lines make one text
 *     -- dialect: mysql
 *     -- level: repeatable read
 *     -- level T2: serializable
 *     -- sessions: T1, T2
 *     -- schedule: none
 *
 * Other comments are for people. A value that could be misread (line breaks, blanks at its ends) is a JSON text.
 */
import { levels, parseLevel } from '../contracts/index.js';
import { FileError } from '../errors.js';
import type { Dialect } from '../sql/index.js';
import type { Case, CaseSession } from './case.js';
import { caseDialects } from './case-file.js';
import { type CaseDraft, lineAt } from './notations/draft.js';

const headLine =
  /^--[ \t]*(name|description|dialect|level|sessions|schedule)\b[ \t]*([^:\r\n]*?)[ \t]*:([^\n]*)$/i;
const quotedLevel = /^--[ \t]*level[ \t]+("(?:[^"\\\r\n]|\\.)*")[ \t]*:([^\n]*)$/i;
const plainName = /^[A-Za-z_\u0080-\uffff][\w.\-\u0080-\uffff]*$/;

/** Whether a text begins with comments of this kind: then a person wrote it for Isolde. */
export function hasHead(text: string): boolean {
  return headLines(text).some(({ line }) => headLine.test(line) || quotedLevel.test(line));
}

/** Reads the comments at the top of a text into a draft. */
export function readHead(text: string, draft: CaseDraft): void {
  for (const { line, at } of headLines(text)) {
    const quoted = quotedLevel.exec(line);
    const match = headLine.exec(line);
    const fail = (field: string, problem: string): never => {
      throw new FileError({ file: draft.context.file, line: lineAt(text, at), field }, problem);
    };
    if (quoted !== null) readLevel(draft, quoted[1]!, quoted[2]!, fail);
    else if (match !== null) {
      const [, word, subject, value] = match;
      readField(draft, { field: word!.toLowerCase(), subject: subject!, value: value!.trim() }, fail);
    }
  }
}

type Fail = (field: string, problem: string) => never;

/** `-- FIELD SUBJECT: VALUE`. */
interface HeadField {
  readonly field: string;
  readonly subject: string;
  readonly value: string;
}

function readField(draft: CaseDraft, { field, subject, value }: HeadField, fail: Fail): void {
  if (field === 'level') {
    readLevel(draft, subject, value, fail);
    return;
  }
  // `-- name of the table: t` is a remark.
  if (subject !== '') return;
  switch (field) {
    case 'name':
      draft.name = readText(value, () => fail('name', 'a name in quotes must be a JSON text'));
      break;
    case 'description': {
      const text = readText(value, () => fail('description', 'a text in quotes must be a JSON text'));
      draft.description = draft.description === undefined ? text : `${draft.description}\n${text}`;
      break;
    }
    case 'dialect': {
      const dialect = caseDialects.find((each) => each === value.toLowerCase());
      draft.dialect =
        dialect ?? fail('dialect', `unknown dialect "${value}"; known are ${caseDialects.join(', ')}`);
      break;
    }
    case 'sessions':
      for (const name of readNames(value, () => fail('sessions', 'a name in quotes must be a JSON text'))) {
        draft.session(name);
      }
      break;
    case 'schedule':
      if (value.toLowerCase() !== 'none') fail('schedule', `expected none, found "${value}"`);
      draft.scheduled = false;
      break;
  }
}

function readLevel(draft: CaseDraft, subject: string, value: string, fail: Fail): void {
  const level = parseLevel(value);
  if (level === undefined) fail('level', `unknown level "${value.trim()}"; known are ${levels.join(', ')}`);
  if (subject === '') draft.level = level;
  else
    draft.setLevel(
      readText(subject, () => fail('level', 'a name in quotes must be a JSON text')),
      level!,
    );
}

function readText(value: string, bad: () => never): string {
  if (!value.startsWith('"')) return value;
  try {
    return JSON.parse(value) as string;
  } catch {
    return bad();
  }
}

function readNames(value: string, bad: () => never): string[] {
  const item = /\s*("(?:[^"\\]|\\.)*"|[^",]+?)\s*(?:,|$)/y;
  const names: string[] = [];
  while (item.lastIndex < value.length) {
    const match = item.exec(value);
    if (match === null) return bad();
    names.push(readText(match[1]!, bad));
  }
  return names;
}

/** The comment lines and blank lines a text begins with. */
function headLines(text: string): { line: string; at: number }[] {
  const lines: { line: string; at: number }[] = [];
  for (let at = 0; at < text.length; ) {
    const lineBreak = text.indexOf('\n', at);
    const end = lineBreak < 0 ? text.length : lineBreak;
    const line = text.slice(at, end).trim();
    if (line !== '' && !line.startsWith('--')) break;
    lines.push({ line, at });
    at = end + 1;
  }
  return lines;
}

/** The head of a case: always begins with the line that says what the file is. */
export function printHead(
  program: Case,
  scheduled: boolean,
  nameSessions: boolean,
  firstLine = '-- isolde script',
): string {
  const lines = [firstLine, `-- name: ${printText(program.name)}`];
  if (program.description !== undefined) {
    const parts = program.description.split('\n');
    if (parts.every(isPlain)) lines.push(...parts.map((part) => `-- description: ${part}`));
    else lines.push(`-- description: ${JSON.stringify(program.description)}`);
  }
  if (program.dialect !== undefined) lines.push(`-- dialect: ${program.dialect satisfies Dialect}`);
  if (program.level !== undefined) lines.push(`-- level: ${program.level}`);
  for (const session of program.sessions) {
    if (session.level !== undefined) lines.push(`-- level ${printName(session.name)}: ${session.level}`);
  }
  if (nameSessions) {
    lines.push(
      `-- sessions: ${program.sessions.map((session) => printName(session.name)).join(', ')}`.trim(),
    );
  }
  if (!scheduled) lines.push('-- schedule: none');
  return `${lines.join('\n')}\n`;
}

/** A session's name as labels spell it; quotes inside are escaped so that every SQL lexer sees one quoted token. */
export function printName(name: CaseSession['name']): string {
  if (plainName.test(name) && !/\s/.test(name)) return name;
  return JSON.stringify(name).replaceAll(/\\./g, (pair) => (pair === '\\"' ? '\\u0022' : pair));
}

function printText(text: string): string {
  return isPlain(text) ? text : JSON.stringify(text);
}

function isPlain(text: string): boolean {
  return text !== '' && text === text.trim() && !text.startsWith('"') && !/[\r\n\u2028\u2029]/.test(text);
}
