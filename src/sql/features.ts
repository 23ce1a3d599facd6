/** What a statement uses, told from its tree: which tables it reads and writes, and which parts of SQL it needs. */
import type { Expression, FromItem, SelectStatement, Statement, TableReference } from './ast.js';
import { visitNodes } from './walk.js';

export interface TableUse {
  readonly schema?: string;
  readonly name: string;
  readonly alias?: string;
}

export interface StatementFeatures {
  /** Tables whose rows it looks at, targets of UPDATE and DELETE included; common tables are not tables. */
  readonly reads: readonly TableUse[];
  readonly writes: readonly TableUse[];
  /** Names of columns mentioned anywhere, each once. */
  readonly columns: readonly string[];
  readonly aggregate: boolean;
  readonly groupBy: boolean;
  readonly distinct: boolean;
  readonly window: boolean;
  readonly orderBy: boolean;
  readonly limit: boolean;
  readonly subquery: boolean;
  readonly join: boolean;
  readonly setOperation: boolean;
  readonly commonTable: boolean;
  /** The names of all common tables, those of subqueries included. */
  readonly commonTables: readonly string[];
  readonly locking: 'none' | 'share' | 'update';
  readonly returning: boolean;
  /** The same rows always give the same answer: no clock, randomness, sequence, session variable or unread text. */
  readonly deterministic: boolean;
  /** Not parsed; `reads` and `writes` then are the names it seems to mention. */
  readonly opaque: boolean;
}

const aggregates = new Set(
  'count sum min max avg total group_concat string_agg array_agg bool_and bool_or every any_value stddev variance median first last'.split(
    ' ',
  ),
);
const unstable =
  /^(random|rand|uuid.*|gen_random_uuid|now|current_.*|local(time|timestamp)|sysdate|utc_.*|clock_timestamp|statement_timestamp|transaction_timestamp|nextval|currval|lastval|setval|last_insert_id|last_insert_rowid|changes|total_changes|row_count|found_rows|connection_id|pg_.*|txid_.*|version|user|session_user|unix_timestamp|get_lock|release_lock|sleep|randomblob|today)$/;

/** Whether a call is an aggregate (and not a window function). */
export function isAggregateCall(expression: Expression, scalarMinMax = false): boolean {
  if (expression.type !== 'call' || expression.over !== undefined || !aggregates.has(expression.name))
    return false;
  return !(scalarMinMax && expression.args.length > 1 && /^(min|max)$/.test(expression.name));
}

/** What a walk over a statement collects. */
class Collector {
  readonly found = {
    aggregate: false,
    window: false,
    subquery: false,
    join: false,
    deterministic: true,
    distinct: false,
    groupBy: false,
    orderBy: false,
    limit: false,
    setOperation: false,
    commonTable: false,
  };
  locking: StatementFeatures['locking'] = 'none';
  readonly columns = new Set<string>();
  readonly commonTables = new Set<string>();
  readonly references: TableReference[] = [];

  constructor(private readonly statement: Statement) {}

  readonly query = (node: SelectStatement): void => {
    const { found } = this;
    if (node !== this.statement) found.subquery = true;
    for (const cte of node.with?.ctes ?? []) this.commonTables.add(cte.name);
    if (node.orderBy.length > 0) found.orderBy = true;
    if (node.limit !== undefined || node.offset !== undefined) found.limit = true;
    for (const { strength } of node.locks) {
      if (strength === 'update' || strength === 'no key update') this.locking = 'update';
      else if (this.locking === 'none') this.locking = 'share';
    }
    const bodies = [node.body];
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      if (body.type === 'set-operation') {
        found.setOperation = true;
        bodies.push(body.left, body.right);
      } else if (body.type === 'core') {
        if (body.distinct) found.distinct = true;
        if (body.groupBy.length > 0) found.groupBy = true;
        if (body.from.length > 1) found.join = true;
      }
    }
  };

  readonly expression = (node: Expression): void => {
    const { found } = this;
    if (node.type === 'column') this.columns.add(node.name);
    else if (node.type === 'parameter' || node.type === 'raw') found.deterministic = false;
    else if (node.type === 'call') {
      if (node.over !== undefined) found.window = true;
      if (isAggregateCall(node)) found.aggregate = true;
      if (unstable.test(node.name)) found.deterministic = false;
    }
  };

  readonly from = (item: FromItem): void => {
    if (item.type === 'join') this.found.join = true;
    else if (item.type === 'function') this.found.deterministic = false;
    else if (item.type === 'table') {
      this.references.push(item);
      // Only some of its rows.
      if (item.hint !== undefined && /\bpartition\b/i.test(item.hint)) this.found.deterministic = false;
    }
  };
}

/** The features of a statement. */
export function statementFeatures(statement: Statement): StatementFeatures {
  const collector = new Collector(statement);
  const { found, commonTables, references, columns } = collector;
  visitNodes(statement, collector);
  if ('with' in statement && statement.with !== undefined) {
    found.commonTable = true;
    for (const cte of statement.with.ctes) commonTables.add(cte.name);
  }
  if (commonTables.size > 0) found.commonTable = true;
  const writes = writtenTables(statement);
  const inserted =
    statement.type === 'insert' || statement.type === 'create-index' ? statement.table : undefined;
  const reads = references
    .filter((item) => item !== inserted && !(item.schema === undefined && commonTables.has(item.name)))
    .map(tableUse);
  if (statement.type === 'update' || statement.type === 'delete')
    found.limit ||= statement.limit !== undefined || statement.orderBy.length > 0;
  const opaque = statement.type === 'opaque';
  return {
    reads: opaque ? statement.tables.map((name) => ({ name })) : unique(reads),
    writes: opaque ? statement.tables.map((name) => ({ name })) : writes,
    columns: [...columns],
    commonTables: [...commonTables],
    ...found,
    locking: collector.locking,
    returning: 'returning' in statement && statement.returning !== undefined,
    deterministic: found.deterministic && !opaque,
    opaque,
  };
}

function tableUse({ schema, name, alias }: TableReference): TableUse {
  return { ...(schema === undefined ? {} : { schema }), name, ...(alias === undefined ? {} : { alias }) };
}

function unique(uses: readonly TableUse[]): TableUse[] {
  return [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()];
}

function writtenTables(statement: Statement): TableUse[] {
  const nested =
    'with' in statement ? (statement.with?.ctes ?? []).flatMap((cte) => writtenTables(cte.statement)) : [];
  switch (statement.type) {
    case 'insert':
    case 'merge':
      return [...nested, tableUse(statement.table)];
    case 'update':
      return [...nested, ...tablesOf([statement.table, ...(statement.moreTables ?? [])])];
    case 'delete': {
      const tables = tablesOf([statement.table, ...(statement.targets === undefined ? [] : statement.using)]);
      const { targets, table, using } = statement;
      if (targets !== undefined)
        return [...nested, ...tables.filter((use) => targets.includes(use.alias ?? use.name))];
      // MySQL: `DELETE FROM a USING t AS a` deletes rows of t.
      const named = table.type === 'table' ? table.name : undefined;
      return [
        ...nested,
        ...tables,
        ...tablesOf(using).filter(({ alias }) => alias !== undefined && alias === named),
      ];
    }
    case 'create-table':
      return [
        { ...(statement.schema === undefined ? {} : { schema: statement.schema }), name: statement.name },
      ];
    case 'create-index':
      return [tableUse(statement.table)];
    case 'drop':
      return statement.what === 'TABLE' ? [...statement.names] : [];
    default:
      return nested;
  }
}

/** The tables of a FROM tree: with joins, any of them may be written. */
function tablesOf(items: readonly FromItem[]): TableUse[] {
  return items.flatMap((item) =>
    item.type === 'join' ? tablesOf([item.left, item.right]) : item.type === 'table' ? [tableUse(item)] : [],
  );
}
