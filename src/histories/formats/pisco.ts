/**
 * Pisco's trace folders: `trace/loader-<thread>.<slice>.json` (a list of operations each), `schema/schema.sql`,
 * `init_data/dataInsert.sql` and `init_data/<table>.csv`.
 *
 * What is odd about them, and what is made of it:
 * - a statement that failed is retyped ROLLBACK (or COMMIT) and keeps its SQL, and its error stands in
 *   `exception` or `predicateLock`: it becomes that statement with an error, ending its transaction;
 * - such a statement may list rows it would have written: they are left out, for nothing was written;
 * - COMMIT has no SQL; START claims an exclusive lock, which means nothing;
 * - a write without values is a DELETE of that row;
 * - times are `startTimestamp` and `finishTimestamp` in nanoseconds; the history counts from the earliest.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Level, parseLevel } from '../../contracts/index.js';
import { FileError } from '../../errors.js';
import type { Dialect } from '../../sql/index.js';
import type { Access, HistoryHeader, Operation } from '../history.js';
import { ByteWindow } from './byte-window.js';
import { byNumber } from './cobra.js';
import type { FormatInput, Imported } from './format.js';
import { JsonElements } from './json-elements.js';
import { isTraceOperation, type TraceOperation, traceOperation } from './pisco-operation.js';
import { type ColumnTypes, columnTypes, statementsOf, typedValue } from './pisco-values.js';
import { isPiscoTrace } from './recognize.js';
import { allUtf8 } from './whole-file.js';

export async function readPisco(input: FormatInput): Promise<Imported> {
  const schema = statementsOf(await textOf(input, 'schema', 'schema.sql'));
  const data = statementsOf(await textOf(input, 'init_data', 'dataInsert.sql'));
  const types = columnTypes(schema);
  const traced = await readTraces(input, types);
  const initial = await initialRows(input, types);
  const platform = await platformOf(input);
  const header: HistoryHeader = {
    sessions: traced.sessions,
    ...levelsOf(traced.levels),
    ...(platform !== undefined && { target: { name: platform, version: 'unknown' } }),
    dialect: dialectOf(platform),
    ...(schema.length + data.length > 0 && { setup: [...schema, ...data] }),
  };
  return {
    kind: 'sql',
    header,
    operations: ordered(traced.operations),
    ...(initial.length > 0 && { initial }),
  };
}

interface Traced {
  readonly sessions: string[];
  readonly operations: TraceOperation[];
  /** The levels each session's transactions began at. */
  readonly levels: Set<Level>[];
}

async function readTraces(input: FormatInput, types: ColumnTypes): Promise<Traced> {
  const traced: Traced = { sessions: [], operations: [], levels: [] };
  const sessions = new Map<string, number>();
  const transactions = new Map<string, number>();
  for (const name of await traceFiles(input)) {
    const shown = name === undefined ? input.shown : `${input.shown}/${name}`;
    const window = new ByteWindow(shown, input.bytes(name));
    const elements = new JsonElements(window, false); // values are texts anyway
    const take = (element: unknown, offset: number): void => {
      const fail = (problem: string, field?: string): never => window.fail(offset, problem, field);
      if (!isTraceOperation(element)) {
        fail('expected an operation with threadID, transactionID, operationTraceType and timestamps');
        return;
      }
      const session = numberOf(sessions, element.threadID);
      if (session === traced.sessions.length) {
        traced.sessions.push(element.threadID);
        traced.levels.push(new Set());
      }
      const transaction = numberOf(transactions, element.transactionID);
      const level = parseLevel(element.isolationLevel ?? '');
      if (level !== undefined) traced.levels[session]!.add(level);
      traced.operations.push(traceOperation(element, { session, transaction, types, fail }));
    };
    await window.readAll(() => elements.run(take));
    elements.finish();
  }
  return traced;
}

/** Traces below `trace`, or beside each other, or the one file given; numbers in their order, not as text. */
async function traceFiles(input: FormatInput): Promise<(string | undefined)[]> {
  if (input.entries === undefined) return [undefined];
  const inside = input.entries.includes('trace');
  const names = inside ? await readdir(join(input.path, 'trace')) : input.entries;
  const found = names.filter(isPiscoTrace).sort(byThreadAndSlice);
  if (found.length === 0)
    throw new FileError({ file: input.shown }, 'expected files named trace/loader-0.0.json');
  return inside ? found.map((name) => `trace/${name}`) : found;
}

function byThreadAndSlice(a: string, b: string): number {
  const [first, second] = [a, b].map((name) => (name.match(/\d+/g) ?? []).map(Number)) as [
    number[],
    number[],
  ];
  return first[0]! - second[0]! || first[1]! - second[1]!;
}

/** In the order of answers; transactions without an end were cut off. */
function ordered(operations: readonly TraceOperation[]): Operation[] {
  const zero = operations.reduce((least, op) => Math.min(least, op.start), Number.POSITIVE_INFINITY);
  const sorted = operations.toSorted(
    (a, b) => (a.end ?? Number.POSITIVE_INFINITY) - (b.end ?? Number.POSITIVE_INFINITY) || 0,
  );
  const last = new Map<number, number>();
  for (const [i, op] of sorted.entries()) last.set(op.transaction, i);
  for (const [index, op] of sorted.entries()) {
    op.index = index;
    op.start -= zero;
    if (op.end !== null) op.end -= zero;
    if (op.ends === undefined && last.get(op.transaction) === index) op.ends = 'unknown';
  }
  return sorted;
}

function levelsOf(levels: readonly ReadonlySet<Level>[]): Pick<HistoryHeader, 'level' | 'sessionLevels'> {
  // A session that changes its level between transactions cannot be described by a header; then nothing is claimed.
  if (levels.some((each) => each.size > 1)) return {};
  const each = levels.map((set) => [...set][0]);
  const level = each.find((one) => one !== undefined);
  if (level === undefined) return {};
  const others = each.flatMap((one, s) =>
    one === undefined || one === level ? [] : [[String(s), one] as const],
  );
  return { level, ...(others.length > 0 && { sessionLevels: Object.fromEntries(others) }) };
}

/** Rows of `init_data/*.csv`: the first line names the columns, the first column is the row's name. */
async function initialRows(input: FormatInput, types: ColumnTypes): Promise<Access[]> {
  if (input.entries?.includes('init_data') !== true) return [];
  const rows: Access[] = [];
  const names = await readdir(join(input.path, 'init_data'));
  for (const name of names.filter((each) => each.endsWith('.csv')).sort(byNumber)) {
    const table = name.replace(/\.csv$/, '');
    const text = await textOf(input, 'init_data', name);
    const [head = '', ...lines] = text.split(/\r?\n/);
    const columns = cells(head);
    lines.forEach((line, i) => {
      if (line === '') return;
      const values = cells(line);
      if (values.length !== columns.length) {
        throw new FileError(
          { file: `${input.shown}/init_data/${name}`, line: i + 2 },
          `expected ${columns.length} values, found ${values.length}`,
        );
      }
      const row = columns.map(
        (column, c) => [column, typedValue(values[c], types.get(table)?.get(column))] as const,
      );
      rows.push({ mode: 'write', object: `${table}/${values[0]}`, value: Object.fromEntries(row) });
    });
  }
  return rows;
}

/** Values between commas; quotes are taken off, and there is no other quoting. */
function cells(line: string): string[] {
  return line.split(',').map((cell) => cell.trim().replace(/^"(.*)"$/s, '$1'));
}

/** The text of a file of the folder; empty where there is none. */
async function textOf(input: FormatInput, folder: string, name: string): Promise<string> {
  if (input.entries?.includes(folder) !== true) return '';
  const entry = `${folder}/${name}`;
  if (!(await readdir(join(input.path, folder))).includes(name)) return '';
  return (await allUtf8(input.bytes(entry), `${input.shown}/${entry}`)).toString('utf8');
}

/** The database, from the configuration Pisco keeps in the folder or beside it. */
async function platformOf(input: FormatInput): Promise<string | undefined> {
  if (input.entries === undefined) return undefined;
  for (const folder of [input.path, dirname(input.path)]) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((each) => /^config.*\.ya?ml$/.test(each))) {
      const text = await readFile(join(folder, name), 'utf8').catch(() => '');
      const match = /^\s+platform:\s*["']?(\w+)/m.exec(text);
      if (match !== null) return match[1]!.toLowerCase();
    }
  }
  return undefined;
}

function dialectOf(platform: string | undefined): Dialect {
  if (platform === undefined) return 'mysql';
  if (/postgres|gauss|yugabyte|crdb|cockroach/.test(platform)) return 'postgres';
  return platform === 'sqlite' || platform === 'duckdb' ? platform : 'mysql';
}

function numberOf(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}
