/** The rows of the tables before the first operation: as an observer read them, or as the set-up's statements made them. */
import type { History, Operation } from '../histories/index.js';
import {
  type Arithmetic,
  applyInsert,
  compileUpdate,
  compileWhere,
  type Dialect,
  type EvaluatedRow,
  isUndecidable,
  parseStatement,
  type Row,
  type Statement,
  sameName,
  statementFeatures,
} from '../sql/index.js';
import { reachesAnyTable } from './reaches-any-table.js';
import type { Table } from './table.js';
import { touchesNoRows } from './touches-no-rows.js';

type Find = (name: string) => Table | undefined;

const observerName = 'observer';

/** Runs the set-up's writes on empty tables; a table whose writes cannot be evaluated has no entry. */
export function evaluateSetup(
  setup: readonly Statement[],
  engine: Arithmetic,
  find: Find,
): Map<string, EvaluatedRow[]> {
  const states = new Map<string, EvaluatedRow[] | undefined>();
  const options = {
    ...engine,
    table: (name: string) => {
      const info = find(name);
      const rows = info === undefined ? undefined : states.get(info.name);
      return info === undefined || rows === undefined
        ? undefined
        : { columns: info.shape.columns, rows: rows as Row[] };
    },
  };
  for (const statement of setup) {
    if (statement.type === 'create-table') {
      const info = find(statement.name);
      const again = statement.ifNotExists && info !== undefined && states.has(info.name);
      if (info !== undefined && statement.as === undefined && !again) states.set(info.name, []);
    } else if (statement.type === 'insert') {
      const info = find(statement.table.name);
      const rows = info === undefined ? undefined : states.get(info.name);
      if (info !== undefined && rows !== undefined) {
        const plain = statement.mode === undefined && statement.conflict === undefined;
        const added = plain ? applyInsert(statement, info.shape, options) : undefined;
        if (added === undefined || isUndecidable(added)) states.set(info.name, undefined);
        else for (const row of added) rows.push(row);
      }
    } else if (statement.type === 'update' || statement.type === 'delete') {
      const info = statement.table.type === 'table' ? find(statement.table.name) : undefined;
      const rows = info === undefined ? undefined : states.get(info.name);
      if (info !== undefined && rows !== undefined)
        states.set(info.name, changeRows(statement, info, rows, options));
    }
    for (const name of alsoWritten(statement) ?? states.keys()) {
      const info = find(name);
      if (info !== undefined) states.set(info.name, undefined);
    }
  }
  return new Map([...states].filter((entry): entry is [string, EvaluatedRow[]] => entry[1] !== undefined));
}

/** Tables whose rows a statement changes besides the one that is followed; undefined: it may be any. */
function alsoWritten(statement: Statement): readonly string[] | undefined {
  switch (statement.type) {
    case 'select':
    case 'merge':
      return statementFeatures(statement).writes.map(({ name }) => name);
    case 'insert':
    case 'update':
    case 'delete': {
      const { table } = statement;
      const followed = table.type === 'table' ? table.name : undefined;
      // A common table expression may write, too.
      const written = statementFeatures(statement).writes.map(({ name }) => name);
      return written.filter((name) => name !== followed);
    }
    case 'opaque': {
      const { kind, sql, tables } = statement;
      if (reachesAnyTable(sql)) return undefined;
      if (kind === 'set' || kind === 'select') return [];
      // An index or an option changes no rows.
      if (kind === 'ddl') return /\btruncate\b|\bcolumn\b|\btrigger\b/i.test(sql) ? tables : [];
      if (kind !== 'other') return tables;
      // A block or a procedure does not say which.
      return touchesNoRows(sql) ? [] : tables.length > 0 ? tables : undefined;
    }
    default:
      return [];
  }
}

function changeRows(
  statement: Extract<Statement, { type: 'update' | 'delete' }>,
  info: Table,
  rows: readonly EvaluatedRow[],
  options: Parameters<typeof compileWhere>[2],
): EvaluatedRow[] | undefined {
  const where = compileWhere(statement, info.shape, options);
  const apply = statement.type === 'update' ? compileUpdate(statement, info.shape, options) : undefined;
  const result: EvaluatedRow[] = [];
  for (const row of rows) {
    const truth = where(row as Row);
    if (isUndecidable(truth)) return undefined;
    if (truth !== true) {
      result.push(row);
      continue;
    }
    const changed = apply?.(row as Row);
    if (isUndecidable(changed)) return undefined;
    if (changed !== undefined) result.push(changed);
  }
  return result;
}

/** Full reads by the observer before everybody else. */
export function observedRows(history: History, find: Find): Map<string, EvaluatedRow[]> {
  const rows = new Map<string, EvaluatedRow[]>();
  const dialect = history.header.dialect ?? 'postgres';
  const observer = history.header.sessions.indexOf(observerName);
  if (observer < 0) return rows;
  let first = Number.POSITIVE_INFINITY;
  for (const { session, start } of history.operations)
    if (session !== observer) first = Math.min(first, start);
  for (const operation of history.operations) {
    if (operation.session !== observer || operation.outcome !== 'ok' || (operation.end ?? first) >= first)
      continue;
    const table = fullyRead(operation, dialect, find);
    if (table !== undefined && operation.rows !== undefined) {
      const order = table.shape.columns.map((column) =>
        operation.columns!.findIndex((name) => sameName(name, column.name, dialect)),
      );
      if (!order.includes(-1))
        rows.set(
          table.name,
          operation.rows.map((row) => order.map((at) => row[at]!)),
        );
    }
  }
  return rows;
}

function fullyRead({ sql, columns }: Operation, dialect: Dialect, find: Find): Table | undefined {
  if (sql === undefined || columns === undefined) return undefined;
  const statement = parseStatement(sql, dialect);
  if (statement.type !== 'select' || statement.body.type !== 'core' || statement.limit !== undefined)
    return undefined;
  const { body } = statement;
  const from = body.from[0];
  const plain =
    body.from.length === 1 &&
    body.where === undefined &&
    body.groupBy.length === 0 &&
    !body.distinct &&
    body.items.every(
      (item) => item.type === 'star' || (item.expression.type === 'column' && item.alias === undefined),
    );
  return plain && from?.type === 'table' ? find(from.name) : undefined;
}
