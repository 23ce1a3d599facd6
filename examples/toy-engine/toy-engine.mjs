// A database in 60 lines, with a bug. It borrows Isolde's SQL parser and evaluator; adapter.mjs puts it behind exec:.
import { compilePredicate, evaluateSelect, parseStatement } from 'isolde-db';

export const dialect = 'sqlite';
const refuse = (message, kind = 'syntax') => {
  throw Object.assign(new Error(message), { kind });
};

/** Runs a statement on tables: name → { columns, rows }. */
export function execute(tables, sql) {
  const statement = parseStatement(sql, dialect);
  const options = { dialect, table: (name) => tables.get(name) };
  const tableOf = ({ name }) => tables.get(name) ?? refuse(`no such table: ${name}`);
  switch (statement.type) {
    case 'create-table': {
      const { name, columns } = statement;
      if (tables.has(name)) refuse(`table ${name} already exists`);
      const odd = columns.find((c) => !/^(INT|BIGINT|TEXT)$/.test(c.columnType) || c.constraints.length > 0);
      if (odd !== undefined)
        refuse(`not supported: ${odd.columnType} with ${odd.constraints.length} constraints`, 'unsupported');
      const named = columns.map((c) => ({ table: name, name: c.name, type: c.columnType }));
      tables.set(name, { columns: named, rows: [] });
      return {};
    }
    case 'insert': {
      const table = tableOf(statement.table);
      if (statement.source.type !== 'values' || statement.returning)
        refuse('not supported: this INSERT', 'unsupported');
      const values = {
        type: 'select',
        body: { type: 'values', rows: statement.source.rows },
        orderBy: [],
        locks: [],
      };
      const { rows } = evaluateSelect(values, options);
      for (const row of rows)
        table.rows.push(table.columns.map(({ name }) => row[statement.columns.indexOf(name)] ?? null));
      return { matched: rows.length };
    }
    case 'delete': {
      const table = tableOf(statement.table);
      const where = statement.where?.op === 'OR' ? statement.where.left : statement.where; // the bug
      const gone = where === undefined ? () => true : compilePredicate(where, table.columns, options);
      const kept = table.rows.filter((row) => gone(row) !== true);
      const matched = table.rows.length - kept.length;
      table.rows = kept;
      return { matched };
    }
    case 'select': {
      const { columns, rows, undecidable } = evaluateSelect(statement, options);
      return undecidable === undefined
        ? { columns, rows }
        : refuse(`not supported: ${undecidable}`, 'unsupported');
    }
    default:
      return refuse(`not supported: ${statement.type}`, 'unsupported');
  }
}
