/**
 * The rows and keys that an operation names, for finding it again among a million: what its recorder wrote down, else what can be
 * read from the statement and its answer without parsing either. A row is `table/number`, as in findings; a statement that names no
 * row still counts for its table. It is a way to search, not evidence: a condition like `v > 3` names no row here.
 */
import type { Operation } from '../../histories/index.js';

const tablePattern = /\b(?:from|into|update|join)\s+("[^"]{1,100}"|`[^`]{1,100}`|[\w.]{1,100})/gi;
const rowPattern =
  /\b(?:rid|pkid|id)["`]?\s*(?:=|in\s*\()\s*((?:'[^']{0,60}'|-?\d+)(?:\s*,\s*(?:'[^']{0,60}'|-?\d+))*)/gi;
const insertPattern = /\bvalues\b/i;
const tuplePattern = /\(\s*('[^']{0,60}'|-?\d+)/g;
const identityName = /^(?:rid|pkid|id)$/i;
const longestStatement = 4000;
/** A table scan of ten thousand rows is found by its table. */
const mostRows = 40;

export function namedRows(operation: Operation): readonly string[] {
  const names = new Set<string>();
  for (const { object } of operation.accesses ?? []) {
    if (names.size >= mostRows) break;
    names.add(object);
  }
  if (operation.sql === undefined) return [...names];
  const sql =
    operation.sql.length > longestStatement ? operation.sql.slice(0, longestStatement) : operation.sql;
  let table: string | undefined;
  for (const match of sql.matchAll(tablePattern)) {
    const name = match[1]!.replaceAll(/["`]/g, '');
    table ??= name;
    names.add(name);
  }
  if (table === undefined) return [...names];
  for (const row of rowsOf(operation, sql)) {
    if (names.size >= mostRows) break;
    names.add(`${table}/${row}`);
  }
  return [...names];
}

function* rowsOf({ kind, columns, rows }: Operation, sql: string): Generator<string> {
  for (const match of sql.matchAll(rowPattern))
    for (const value of match[1]!.split(',')) yield unquoted(value);
  const values = kind === 'insert' ? insertPattern.exec(sql) : null;
  if (values !== null)
    for (const match of sql.slice(values.index).matchAll(tuplePattern)) yield unquoted(match[1]!);
  const at = columns?.findIndex((name) => identityName.test(name)) ?? -1;
  if (at < 0) return;
  for (const row of rows ?? []) {
    const value = row[at];
    if (typeof value === 'number' || typeof value === 'string') yield String(value);
  }
}

function unquoted(text: string): string {
  return text.trim().replaceAll(/^'|'$/g, '');
}
