/**
 * Makes updates change something. A case that was reduced under instrumentation, or by an oracle that only looks at who
 * wrote last, ends with `UPDATE t SET a = a` or with every value 0: the finding is there, but whoever reads the case sees an
 * update that does nothing, and in some engines it then really does nothing. So where the finding allows it, no update
 * assigns a column to itself, to what all rows have from the set-up, or to what another update assigns.
 */
import {
  type Dialect,
  nameKey,
  parseStatement,
  printStatement,
  type Statement,
  sameName,
  valueKey,
} from '../../sql/index.js';
import type { Candidate } from '../candidate.js';
import { type Pass, type PassContext, type Proposal, withStatements } from './pass.js';

interface Assigned {
  /** `table.column`. */
  readonly column: string;
  /** Undefined: the column itself. What is computed otherwise is not looked at. */
  readonly value: string | undefined;
}

/** Counts updates that change nothing, as far as literals tell; what was found out about a statement is remembered. */
export function quietUpdates({ dialect }: PassContext): (candidate: Candidate) => number {
  const known = new Map<string, readonly Assigned[]>();
  const assignedBy = (sql: string) => {
    const found = known.get(sql) ?? assignedIn(sql, dialect);
    known.set(sql, found);
    return found;
  };
  return ({ case: program }) => {
    const initial = program.setup.flatMap(assignedBy);
    const updates = program.sessions.flatMap(({ statements }) =>
      statements.filter((sql) => /^\s*UPDATE\b/i.test(sql)).flatMap(assignedBy),
    );
    return updates.filter(({ column, value }, i) => {
      if (value === undefined) return true;
      const same = (other: Assigned) => other.column === column && other.value === value;
      const rows = initial.filter((other) => other.column === column);
      return (rows.length > 0 && rows.every(same)) || updates.slice(0, i).some(same);
    }).length;
  };
}

export const changingValues: Pass = {
  name: 'changing values',
  proposals(current, context) {
    const quiet = quietUpdates(context);
    const before = quiet(current);
    if (before === 0) return [];
    return current.case.sessions.flatMap(({ statements }, s) =>
      statements.flatMap((sql, p): Proposal[] =>
        others(sql, context.dialect).map((text) => () => {
          const changed = withStatements(current, (old, session, position) =>
            session === s && position === p ? text : old,
          );
          return quiet(changed) < before ? changed : undefined;
        }),
      ),
    );
  },
};

/** An UPDATE with another value for one of its columns: a small number, or a letter for columns of text. */
function others(sql: string, dialect: Dialect): string[] {
  const statement = parseStatement(sql, dialect);
  if (statement.type !== 'update') return [];
  return statement.set.flatMap((_, at) =>
    [1, 2, 3, 'a', 'b', 'c'].map((literal) => {
      const value = { type: 'literal', value: literal } as const;
      const set = statement.set.map((each, i) => (i === at ? { ...each, value } : each));
      return printStatement({ ...statement, set }, dialect);
    }),
  );
}

/** What an UPDATE assigns, or what an INSERT gives to each column it names. */
function assignedIn(sql: string, dialect: Dialect): Assigned[] {
  const statement: Statement = parseStatement(sql, dialect);
  const nameOf = (table: string, column: string) => `${nameKey(table, dialect)}.${nameKey(column, dialect)}`;
  if (statement.type === 'insert' && statement.source.type === 'values') {
    const { table, columns = [], source } = statement;
    return source.rows.flatMap((row) =>
      columns.map((name, i): Assigned => {
        const value = row[i];
        const key = value?.type === 'literal' ? valueKey(value.value) : `?${i}`;
        return { column: nameOf(table.name, name), value: key };
      }),
    );
  }
  if (statement.type !== 'update' || statement.table.type !== 'table') return [];
  const { name: table } = statement.table;
  return statement.set.flatMap(({ columns, value }): Assigned[] => {
    const [column] = columns;
    if (column === undefined || columns.length > 1) return [];
    if (value.type === 'literal') return [{ column: nameOf(table, column), value: valueKey(value.value) }];
    const itself = value.type === 'column' && sameName(value.name, column, dialect);
    return itself ? [{ column: nameOf(table, column), value: undefined }] : [];
  });
}
