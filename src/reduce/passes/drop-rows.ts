/**
 * Drops rows of the set-up's INSERT … VALUES, whichever INSERT they stand in: all, halves, quarters, down to single rows; an
 * INSERT left without rows goes. So a row to a statement costs no more trials than all rows in one.
 */
import { type InsertStatement, parseStatement, printStatement } from '../../sql/index.js';
import { type Pass, withSetup } from './pass.js';

export const dropRows: Pass = {
  name: 'drop rows',
  proposals(current, { dialect }) {
    const { setup } = current.case;
    const inserts = setup.map((sql) => {
      if (!/^\s*insert\b/i.test(sql)) return undefined;
      const statement = parseStatement(sql, dialect);
      return statement.type === 'insert' && statement.source.type === 'values'
        ? { statement, rows: statement.source.rows }
        : undefined;
    });
    const places = inserts.flatMap((insert, at) => insert?.rows.map((_, row) => ({ at, row })) ?? []);
    return pieces(places.length).map(([from, to]) => () => {
      const gone = new Map<number, Set<number>>();
      for (const { at, row } of places.slice(from, to)) gone.set(at, (gone.get(at) ?? new Set()).add(row));
      return withSetup(
        current,
        setup.flatMap((sql, at) => {
          const without = gone.get(at);
          if (without === undefined) return [sql];
          const { statement, rows } = inserts[at]!;
          const left = rows.filter((_, row) => !without.has(row));
          return left.length === 0 ? [] : [printInsert(statement, left)];
        }),
      );
    });

    function printInsert(statement: InsertStatement, rows: InsertRows): string {
      return printStatement({ ...statement, source: { type: 'values', rows } }, dialect);
    }
  },
};

type InsertRows = Extract<InsertStatement['source'], { readonly type: 'values' }>['rows'];

/** Ranges of a list: the whole, then halves, quarters, …, single places; the last first. */
export function pieces(length: number): (readonly [from: number, to: number])[] {
  const ranges: (readonly [number, number])[] = [];
  for (let size = length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let to = length; to > 0; to -= size) ranges.push([Math.max(0, to - size), to]);
  }
  return ranges;
}
