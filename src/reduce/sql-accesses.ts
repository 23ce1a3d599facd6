/**
 * Which rows the operations of a case access, as far as its SQL and one run of it tell. Three sources, the best first:
 *
 * 1. Accesses the run's recorder knew (imported traces).
 * 2. Rows a read returned, where its columns name them.
 * 3. Rows a WHERE names, and the rows of an INSERT.
 *
 * What names the rows of a table is decided by `rows/`, as for every judge. Everything else counts as an access to the whole
 * table; what cannot be parsed counts as writing the tables it mentions.
 *
 * An UPDATE that sets constants, by a condition on the columns that name rows alone, is blind to what its rows hold; so are
 * INSERTs of constants and DELETEs by such a condition.
 */
import type { StatementRef } from '../cases/index.js';
import type { History, Operation } from '../histories/index.js';
import { type Catalog, catalogOfProgram, conditionOf, namedKeys, rowKey, type Table } from '../rows/index.js';
import {
  applyInsert,
  classifyStatement,
  type Dialect,
  type Expression,
  isUndecidable,
  nameKey,
  parseStatement,
  type Statement,
  sameName,
  statementFeatures,
  visitNodes,
} from '../sql/index.js';
import type { CaseModel } from './case-model.js';
import type { DependencySource, RowAccess } from './dependencies.js';

/** `history`: a run of the model's case, operations named by their statement. */
export function sqlAccesses(model: CaseModel, dialect: Dialect, history?: History): DependencySource {
  const runs = new Map<string, Operation>();
  for (const operation of history?.operations ?? []) {
    if (operation.statement !== undefined) runs.set(refKey(operation.statement), operation);
  }
  const catalog = catalogOfProgram({
    dialect,
    setup: model.candidate.case.setup,
    statements: model.operations.map(({ ref, sql }) => ({
      sql,
      kind: classifyStatement(sql, dialect).kind,
      accesses: runs.get(refKey(ref))?.accesses,
    })),
  });
  const known = new Map<string, StatementAccesses>();
  const fromSql = (sql: string): StatementAccesses => {
    const accesses = known.get(sql) ?? statementAccesses(parseStatement(sql, dialect), catalog);
    known.set(sql, accesses);
    return accesses;
  };
  return {
    accesses(id) {
      const { ref, sql } = model.operations[id]!;
      const run = runs.get(refKey(ref));
      const { accesses, writing } = fromSql(sql);
      if (run?.accesses !== undefined)
        return run.accesses.map((access) => recorded(access, writing, catalog));
      return run === undefined ? accesses : withRowsRead(accesses, run, catalog);
    },
  };
}

function refKey([session, position]: StatementRef): string {
  return `${session}/${position}`;
}

/** How a statement writes rows, whichever they are. */
type Writing = Pick<RowAccess, 'blind' | 'keepsRow'>;

interface StatementAccesses {
  readonly accesses: readonly RowAccess[];
  readonly writing: Writing;
}

/** By which a table goes in accesses, known or not. */
function nameOf(name: string, { find, dialect }: Catalog): string {
  return find(name)?.name ?? nameKey(name, dialect);
}

function recorded(
  { object, mode }: NonNullable<Operation['accesses']>[number],
  writing: Writing,
  catalog: Catalog,
): RowAccess {
  const slash = object.indexOf('/');
  const table = slash < 0 ? '' : nameOf(object.slice(0, slash), catalog);
  const access = { table, row: object.slice(slash + 1) };
  return mode === 'read' ? { ...access, writes: false } : { ...access, writes: true, ...writing };
}

/** Reads of whole tables become reads of the rows that came back, where the result names them. */
function withRowsRead(
  accesses: readonly RowAccess[],
  { columns, rows }: Operation,
  catalog: Catalog,
): readonly RowAccess[] {
  if (columns === undefined || rows === undefined || accesses.some(({ writes }) => writes)) return accesses;
  return accesses.flatMap((access): readonly RowAccess[] => {
    const table = access.row === undefined ? catalog.find(access.table) : undefined;
    if (table === undefined) return [access];
    const at = table.identity.map((position) =>
      columns.findIndex((name) => sameName(name, table.shape.columns[position]!.name, catalog.dialect)),
    );
    const keys = at.includes(-1) ? [undefined] : rows.map((row) => rowKey(row, at));
    return rowAccesses(access, keys);
  });
}

/** An access to a table as accesses to its rows, if all of them have names. */
function rowAccesses(whole: RowAccess, keys: readonly (string | undefined)[]): readonly RowAccess[] {
  const rows = keys.flatMap((row) => (row === undefined ? [] : [{ ...whole, row }]));
  return rows.length === keys.length ? rows : [whole];
}

function statementAccesses(statement: Statement, catalog: Catalog): StatementAccesses {
  if (statement.type === 'begin' || statement.type === 'commit' || statement.type === 'rollback')
    return { accesses: [], writing: {} };
  const { reads, writes } = statementFeatures(statement);
  const names = (uses: readonly { readonly name: string }[]) =>
    new Set(uses.map(({ name }) => nameOf(name, catalog)));
  const written = names(writes);
  const named = namedRows(statement, catalog);
  const writing = writingOf(statement, catalog);
  const accesses = (table: string, how: Omit<RowAccess, 'table'>) =>
    named?.table === table ? rowAccesses({ table, ...how }, named.rows) : [{ table, ...how }];
  const all = [
    ...[...written].flatMap((name) => accesses(name, { writes: true, ...writing })),
    ...[...names(reads)]
      .filter((name) => !written.has(name))
      .flatMap((name) => accesses(name, { writes: false })),
  ];
  return { accesses: all, writing };
}

function writingOf(statement: Statement, catalog: Catalog): Writing {
  switch (statement.type) {
    case 'insert': {
      const { source, conflict } = statement;
      const constant = source.type === 'values' && source.rows.flat().every(isConstant);
      return constant && conflict === undefined ? { blind: true } : {};
    }
    case 'delete':
      return byRowAlone(statement, catalog) ? { blind: true } : {};
    case 'update': {
      const constant = statement.set.every(({ value }) => isConstant(value));
      return { keepsRow: true, ...(constant && byRowAlone(statement, catalog) && { blind: true }) };
    }
    default:
      return {};
  }
}

const isConstant = (expression: Expression): boolean => expression.type === 'literal';

/** Whether the condition of a write looks at nothing but the columns that name rows. */
function byRowAlone(statement: Statement, catalog: Catalog): boolean {
  const table = singleTable(statement, catalog);
  const where = conditionOf(statement);
  if (where === undefined) return true;
  const { dialect } = catalog;
  const naming = new Set(
    table?.identity.map((position) => nameKey(table.shape.columns[position]!.name, dialect)),
  );
  let alone = true;
  visitNodes(where, {
    expression: (node) => {
      if (node.type === 'column') alone &&= naming.has(nameKey(node.name, dialect));
      else alone &&= /^(literal|binary|unary|between|in-list)$/.test(node.type);
    },
  });
  return alone;
}

/** The one table whose rows a statement chooses by its condition. */
function singleTable(statement: Statement, { find }: Catalog): Table | undefined {
  switch (statement.type) {
    case 'update':
    case 'delete':
      return statement.table.type === 'table' ? find(statement.table.name) : undefined;
    case 'select': {
      const [from, ...more] = statement.body.type === 'core' ? statement.body.from : [];
      return from?.type === 'table' && more.length === 0 ? find(from.name) : undefined;
    }
    default:
      return undefined;
  }
}

/** The rows of its one table that a statement can touch, if its text names them. */
function namedRows(
  statement: Statement,
  catalog: Catalog,
): { readonly table: string; readonly rows: readonly (string | undefined)[] } | undefined {
  const { dialect, find } = catalog;
  if (statement.type === 'insert') {
    const table = find(statement.table.name);
    if (table === undefined || statement.source.type !== 'values') return undefined;
    const rows = applyInsert(statement, table.shape, { dialect });
    if (isUndecidable(rows)) return undefined;
    return { table: table.name, rows: rows.map((row) => rowKey(row, table.identity)) };
  }
  const table = singleTable(statement, catalog);
  const rows = table && namedKeys(conditionOf(statement), table, { dialect });
  return rows && { table: table.name, rows };
}
