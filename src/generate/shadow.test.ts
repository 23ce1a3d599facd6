import { describe, expect, it } from 'vitest';
import { type Dialect, parseStatement } from '../sql/index.js';
import type { ColumnModel, TableModel } from './schema.js';
import { Shadow } from './shadow.js';
import { type ColumnKind, domainOf } from './values.js';

function model(name: string): TableModel {
  const kinds: Readonly<Record<string, ColumnKind>> = { rid: 'int', a: 'int', b: 'text' };
  const columns = Object.entries(kinds).map(
    ([each, kind]): ColumnModel => ({
      name: each,
      kind,
      role: each === 'rid' ? 'rid' : 'plain',
      nullable: true,
      domain: domainOf(kind, false),
      arithmetic: kind === 'int',
    }),
  );
  return { name, columns, key: [], indexes: [], parent: false };
}

/** Runs statements on the shadow state of two empty tables `t` and `u`. */
function lab(dialect: Dialect, ...statements: readonly string[]) {
  const shadow = new Shadow([model('t'), model('u')], dialect);
  const run = (sql: string) => {
    const statement = parseStatement(sql, dialect);
    const table = (name: string) => shadow.table(name)!;
    if (statement.type === 'insert') shadow.insert(table(statement.table.name), statement);
    else if (statement.type === 'update' && statement.table.type === 'table')
      shadow.update(table(statement.table.name), statement);
    else if (statement.type === 'delete' && statement.table.type === 'table')
      shadow.delete(table(statement.table.name), statement);
    else throw new Error(`not a write: ${sql}`);
  };
  for (const sql of statements) run(sql);
  /** Rows by `rid`; undefined is a cell that is not known, a final `?` a row that may not be there. */
  const rows = (name = 't') => {
    const table = shadow.table(name)!;
    return table
      .list()
      .toSorted((x, y) => x.rid - y.rid)
      .map((row) => [
        ...['rid', 'a', 'b'].map((column) => table.value(row, column)),
        ...(row.sure ? [] : ['?']),
      ]);
  };
  return { shadow, run, rows };
}

const three = "INSERT INTO t (rid, a, b) VALUES (1, 10, NULL), (2, 20, 'x'), (3, 30, 'Ähre')";

describe.each(['postgres', 'mysql', 'sqlite', 'duckdb'] as const)('the shadow state in %s', (dialect) => {
  it('updates from the old rows, and takes everything back', () => {
    const { shadow, run, rows } = lab(dialect, three, 'INSERT INTO u (rid, a) VALUES (1, 20)');
    shadow.keep();
    const before = rows();
    const mark = shadow.mark();
    run('UPDATE t SET a = a + 5 WHERE a >= (SELECT MAX(s.a) FROM u AS s)');
    expect(rows().map(([, a]) => a)).toEqual([10, 25, 35]);
    run('DELETE FROM t WHERE EXISTS (SELECT 1 FROM t AS s WHERE s.rid = 1)');
    run('INSERT INTO t (rid, a) VALUES (9, 1)');
    expect(rows()).toEqual([[9, 1, null]]);
    shadow.undo(mark);
    expect(rows()).toEqual(before);
  });

  it('looks only at the row that is named, and at what else is demanded of it', () => {
    const { run, rows } = lab(dialect, three);
    run('UPDATE t SET a = 0 WHERE rid = 2');
    run('UPDATE t SET a = 1 WHERE rid = 3 AND a = 31');
    run('UPDATE t SET a = 2 WHERE rid = 7');
    expect(rows().map(([, a]) => a)).toEqual([10, 0, 30]);
  });

  it('copies rows, those that may not be there as ones that may not be there', () => {
    const { run, rows } = lab(dialect, three);
    run('DELETE FROM t WHERE length(b) = 4');
    expect(rows().map((row) => row.length > 3)).toEqual([false, false, true]);
    run('INSERT INTO t (rid, a, b) SELECT 1000 + s.rid, s.a, s.b FROM t AS s WHERE s.rid BETWEEN 2 AND 12');
    expect(rows().map(([rid]) => rid)).toEqual([1, 2, 3, 1002, 1003]);
    expect(rows().map((row) => row.length > 3)).toEqual([false, false, true, false, true]);
  });

  it('forgets a value that an undecided UPDATE may have changed', () => {
    const { run, rows } = lab(dialect, three);
    run('UPDATE t SET a = 0 WHERE length(b) = 4');
    expect(rows().map(([, a]) => a)).toEqual([10, 20, undefined]);
  });

  it('concludes nothing from a table whose rows may not be there', () => {
    const { run, rows } = lab(dialect, three);
    run('DELETE FROM t WHERE length(b) = 4');
    run('INSERT INTO u (rid, a) VALUES (1, 10), (2, 20)');
    // What is known settles the first row; the second depends on a row that may be gone.
    run('UPDATE u SET a = 0 WHERE a = 20 AND EXISTS (SELECT 1 FROM t AS s WHERE s.a = 30)');
    expect(rows('u').map(([, a]) => a)).toEqual([10, undefined]);
  });
});
