/**
 * Drops rows of the set-up's INSERT … VALUES: all but one, halves, quarters, down to single rows; an INSERT left without rows
 * goes.
 */
import { type InsertStatement, parseStatement, printStatement } from '../../sql/index.js';
import { type Pass, type Proposal, withSetup } from './pass.js';

export const dropRows: Pass = {
  name: 'drop rows',
  proposals(current, { dialect }) {
    return current.case.setup.flatMap((sql, at): Proposal[] => {
      if (!/^\s*insert\b/i.test(sql)) return [];
      const statement = parseStatement(sql, dialect);
      if (statement.type !== 'insert' || statement.source.type !== 'values') return [];
      const { rows } = statement.source;
      return pieces(rows.length).map(([from, to]) => () => {
        const left = rows.filter((_, r) => r < from || r >= to);
        const setup = current.case.setup.flatMap((other, i) =>
          i !== at ? [other] : left.length === 0 ? [] : [printInsert(statement, left)],
        );
        return withSetup(current, setup);
      });
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
