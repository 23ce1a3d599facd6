import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WriteLog } from './write-log.js';

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('write' as const), row: fc.nat(50), to: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('undo' as const), mark: fc.nat(100) }) },
);

describe('the log of an open transaction', () => {
  it('knows its own versions and the way back as a copy of everything does', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const log = new WriteLog<number, number>();
        const table = new Map<number, number>();
        // The twin: a copy of the table before every write that still counts.
        const copies: Map<number, number>[] = [];
        const written: number[] = [];
        for (const each of steps) {
          if (each.type === 'write') {
            copies.push(new Map(table));
            written.push(each.row);
            log.write(each.row, table.get(each.row) ?? -1, each.to);
            table.set(each.row, each.to);
          } else {
            const mark = Math.min(each.mark, log.mark());
            log.undo(mark, (row, before) => {
              if (before === -1) table.delete(row);
              else table.set(row, before);
            });
            if (mark < copies.length) expect(table).toEqual(copies[mark]);
            copies.length = written.length = mark;
          }
          expect(log.mark()).toBe(written.length);
          expect([...log.rows].sort()).toEqual([...new Set(written)].sort());
          for (const row of [0, 1, 2, 49]) {
            expect(log.wrote(row)).toBe(written.includes(row));
            expect(log.own(row)).toBe(written.includes(row) ? table.get(row) : undefined);
          }
        }
        log.clear();
        expect([log.mark(), log.rows, log.wrote(1)]).toEqual([0, [], false]);
      }),
    );
  });
});
