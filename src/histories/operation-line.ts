/**
 * One operation as one line of JSON, and back. This is the hot path of every run and every check, so the line
 * is built byte by byte (fixed fields first, always in the same order) and validated by one pass over the members of
 * the parsed object; only a complaint is slow.
 */
import { FileError } from '../errors.js';
import { showFound } from '../json.js';
import { isValue, type Row } from '../sql/index.js';
import type { ByteText } from './byte-text.js';
import type { Access, ErrorClass, Operation, OperationKind } from './history.js';

/** Adds the line of an operation, line break included. */
export function writeOperation(line: ByteText, op: Operation): void {
  line.ascii('{"index":');
  line.number(op.index);
  line.ascii(',"session":');
  line.number(op.session);
  line.ascii(',"transaction":');
  line.number(op.transaction);
  line.ascii(',"kind":"');
  line.ascii(op.kind);
  line.ascii('"');
  if (op.statement !== undefined) {
    line.ascii(',"statement":[');
    line.number(op.statement[0]);
    line.ascii(',');
    line.number(op.statement[1]);
    line.ascii(']');
  }
  if (op.sql !== undefined) {
    line.ascii(',"sql":');
    line.quoted(op.sql);
  }
  line.ascii(',"start":');
  line.number(op.start);
  line.ascii(',"end":');
  if (op.end === null) line.ascii('null');
  else line.number(op.end);
  line.ascii(',"outcome":"');
  line.ascii(op.outcome);
  line.ascii('"');
  if (op.error !== undefined) {
    line.ascii(',"error":');
    line.json(op.error);
  }
  if (op.ends !== undefined) line.ascii(`,"ends":"${op.ends}"`);
  if (op.blocked !== undefined) line.ascii(`,"blocked":${op.blocked}`);
  if (op.columns !== undefined) {
    line.ascii(',"columns":');
    writeRow(line, op.columns);
  }
  if (op.rows !== undefined) writeRows(line, op.rows);
  if (op.matched !== undefined) line.ascii(`,"matched":${op.matched}`);
  if (op.changed !== undefined) line.ascii(`,"changed":${op.changed}`);
  if (op.accesses !== undefined) {
    line.ascii(',"accesses":');
    line.json(op.accesses);
  }
  line.ascii('}\n');
}

function writeRows(line: ByteText, rows: readonly Row[]): void {
  line.ascii(',"rows":[');
  for (let r = 0; r < rows.length; r++) {
    if (r > 0) line.ascii(',');
    writeRow(line, rows[r]!);
  }
  line.ascii(']');
}

function writeRow(line: ByteText, row: Row): void {
  line.ascii('[');
  for (let c = 0; c < row.length; c++) {
    const value = row[c]!;
    if (c > 0) line.ascii(',');
    if (typeof value === 'string') line.quoted(value);
    else if (typeof value === 'number') line.number(value);
    else line.json(value);
  }
  line.ascii(']');
}

/** What is wrong with an operation, in which field. */
export interface OperationProblem {
  readonly field?: string | undefined;
  readonly problem: string;
}

const kinds: Readonly<Record<OperationKind, true>> = {
  begin: true,
  commit: true,
  rollback: true,
  savepoint: true,
  release: true,
  'rollback-to': true,
  select: true,
  insert: true,
  update: true,
  delete: true,
  replace: true,
  merge: true,
  set: true,
  ddl: true,
  other: true,
  read: true,
  write: true,
  append: true,
};

const errorClasses: Readonly<Record<ErrorClass, true>> = {
  deadlock: true,
  serialization: true,
  'lock-timeout': true,
  'statement-timeout': true,
  cancelled: true,
  busy: true,
  'duplicate-key': true,
  constraint: true,
  'transaction-aborted': true,
  syntax: true,
  unsupported: true,
  data: true,
  'out-of-memory': true,
  'connection-lost': true,
  crash: true,
  other: true,
};

const modes: Readonly<Record<Access['mode'], true>> = { read: true, write: true, append: true, delete: true };

const kindSet = new Set(Object.keys(kinds));
const classSet = new Set(Object.keys(errorClasses));
const modeSet = new Set(Object.keys(modes));
const required = ['index', 'session', 'transaction', 'kind', 'start', 'end', 'outcome'];

/** What is wrong with a parsed line as operation number `index` of a history of so many sessions; or undefined. */
export function operationProblem(
  thing: unknown,
  index: number,
  sessionCount: number,
): OperationProblem | undefined {
  if (typeof thing !== 'object' || thing === null || Array.isArray(thing)) {
    return { problem: `expected an operation, found ${showFound(thing)}` };
  }
  const op = thing as Record<string, unknown>;
  let seen = 0;
  for (const field in op) {
    const value = op[field];
    let expected: string | undefined;
    switch (field) {
      case 'index':
        seen++;
        if (value !== index) expected = `${index}, for operations are numbered from 0 in the order of lines`;
        break;
      case 'session':
        seen++;
        if (!isCount(value) || value >= sessionCount) expected = `a session number below ${sessionCount}`;
        break;
      case 'transaction':
      case 'start':
        seen++;
        if (!isCount(value)) expected = 'an integer from 0 on';
        break;
      case 'end':
        seen++;
        if (value !== null && !(isCount(value) && value >= (op.start as number))) {
          expected = 'an integer not below start, or null';
        }
        break;
      case 'kind':
        seen++;
        if (!kindSet.has(value as string)) expected = `one of ${[...kindSet].join(', ')}`;
        break;
      case 'outcome':
        seen++;
        if (value !== 'ok' && value !== 'error' && value !== 'unknown') expected = 'ok, error or unknown';
        break;
      default: {
        const bad = optionalProblem(field, value);
        if (bad !== undefined) return bad;
      }
    }
    if (expected !== undefined) return { field, problem: `expected ${expected}; found ${showFound(value)}` };
  }
  if (seen === required.length) return undefined;
  const field = required.find((name) => !Object.hasOwn(op, name));
  return { field, problem: 'the field is missing' };
}

/** What is wrong with a field that an operation may have. */
function optionalProblem(field: string, value: unknown): OperationProblem | undefined {
  let expected: string | undefined;
  switch (field) {
    case 'matched':
    case 'changed':
      if (!isCount(value)) expected = 'an integer from 0 on';
      break;
    case 'sql':
      if (typeof value !== 'string') expected = 'text';
      break;
    case 'blocked':
      if (typeof value !== 'boolean') expected = 'true or false';
      break;
    case 'ends':
      if (value !== 'commit' && value !== 'rollback' && value !== 'unknown') {
        expected = 'commit, rollback or unknown';
      }
      break;
    case 'statement':
      if (!(Array.isArray(value) && value.length === 2 && isCount(value[0]) && isCount(value[1]))) {
        expected = 'a session number and a position';
      }
      break;
    case 'columns':
      if (!(Array.isArray(value) && value.every((name) => typeof name === 'string')))
        expected = 'a list of texts';
      break;
    case 'rows':
      return rowsProblem(value);
    case 'error':
      return errorProblem(value);
    case 'accesses':
      return accessesProblem(value);
    default:
      return { field, problem: 'unknown field' };
  }
  return expected === undefined
    ? undefined
    : { field, problem: `expected ${expected}; found ${showFound(value)}` };
}

/** The error for a line that holds no valid operation. */
export function operationError(file: string, line: number, bad: OperationProblem): FileError {
  return new FileError({ file, line, field: bad.field }, bad.problem);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function rowsProblem(rows: unknown): OperationProblem | undefined {
  if (!Array.isArray(rows)) return { field: 'rows', problem: `expected a list, found ${showFound(rows)}` };
  for (let r = 0; r < rows.length; r++) {
    const row: unknown = rows[r];
    if (!Array.isArray(row)) {
      return { field: `rows[${r}]`, problem: `expected a list of values, found ${showFound(row)}` };
    }
    for (let c = 0; c < row.length; c++) {
      if (!isValue(row[c])) {
        return { field: `rows[${r}][${c}]`, problem: `expected a value, found ${showFound(row[c])}` };
      }
    }
  }
  return undefined;
}

function errorProblem(error: unknown): OperationProblem | undefined {
  const bad = membersProblem(error, 'error', ['class', 'code', 'message']);
  if (bad !== undefined) return bad;
  const { class: name, code, message } = error as Record<string, unknown>;
  if (!classSet.has(name as string)) {
    return {
      field: 'error.class',
      problem: `expected one of ${[...classSet].join(', ')}; found ${showFound(name)}`,
    };
  }
  if (code !== undefined && typeof code !== 'string') {
    return { field: 'error.code', problem: `expected text, found ${showFound(code)}` };
  }
  if (typeof message === 'string') return undefined;
  return { field: 'error.message', problem: `expected text, found ${showFound(message)}` };
}

function accessesProblem(accesses: unknown): OperationProblem | undefined {
  if (!Array.isArray(accesses)) {
    return { field: 'accesses', problem: `expected a list, found ${showFound(accesses)}` };
  }
  for (const [i, access] of accesses.entries()) {
    const field = `accesses[${i}]`;
    const bad = membersProblem(access, field, ['mode', 'object', 'value']);
    if (bad !== undefined) return bad;
    const { mode, object, value } = access as Record<string, unknown>;
    if (!modeSet.has(mode as string)) {
      return {
        field: `${field}.mode`,
        problem: `expected read, write, append or delete; found ${showFound(mode)}`,
      };
    }
    if (typeof object !== 'string') {
      return { field: `${field}.object`, problem: `expected text, found ${showFound(object)}` };
    }
    if (value !== undefined && !isAccessValue(value)) {
      const expected = 'a value, a list of values or values by column';
      return { field: `${field}.value`, problem: `expected ${expected}; found ${showFound(value)}` };
    }
  }
  return undefined;
}

function isAccessValue(value: unknown): boolean {
  if (isValue(value)) return true;
  if (Array.isArray(value)) return value.every(isValue);
  return typeof value === 'object' && value !== null && Object.values(value).every(isValue);
}

function membersProblem(
  thing: unknown,
  field: string,
  known: readonly string[],
): OperationProblem | undefined {
  if (typeof thing !== 'object' || thing === null || Array.isArray(thing)) {
    return { field, problem: `expected an object, found ${showFound(thing)}` };
  }
  const unknown = Object.keys(thing).find((name) => !known.includes(name));
  return unknown === undefined ? undefined : { field: `${field}.${unknown}`, problem: 'unknown field' };
}
