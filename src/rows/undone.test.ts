import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { History, Operation } from '../histories/index.js';
import { undoneOperations } from './undone.js';

const kinds = [
  ['savepoint', /^SAVEPOINT/],
  ['release', /^RELEASE/],
  ['rollback-to', /^ROLLBACK TO/],
  ['update', /./],
] as const;

/** `T: statement`, one after another; `!` in front: it failed. */
function historyOf(...lines: readonly string[]): History {
  const operations = lines.map((line, index) => {
    const [, failed, transaction, sql] = /^(!?)(\d): (.*)$/.exec(line)!;
    const kind = kinds.find(([, like]) => like.test(sql!))![0];
    const number = Number(transaction);
    const outcome = failed === '!' ? 'error' : 'ok';
    return { index, session: number, transaction: number, kind, sql, start: index, end: index, outcome };
  });
  return { header: { sessions: ['T1', 'T2'] }, operations: operations as unknown as Operation[] };
}

const undone = (...lines: readonly string[]) => [...undoneOperations(historyOf(...lines), 'postgres')];

describe('what ROLLBACK TO takes back', () => {
  it('is all since the savepoint, of its transaction alone', () => {
    expect(undone('0: W', '0: SAVEPOINT a', '0: W', '1: W', '0: ROLLBACK TO a', '0: W')).toEqual([1, 2]);
  });

  it('is nothing where it failed, or after the savepoint was released', () => {
    expect(undone('0: SAVEPOINT a', '0: W', '!0: ROLLBACK TO a')).toEqual([]);
    expect(
      undone('0: SAVEPOINT a', '0: W', '0: SAVEPOINT b', '0: W', '0: RELEASE b', '0: ROLLBACK TO a'),
    ).toEqual([0, 1, 2, 3, 4]);
  });

  it('tells PostgreSQL’s quoted names apart', () => {
    expect(undone('0: SAVEPOINT "A"', '0: W', '0: SAVEPOINT a', '0: W', '0: ROLLBACK TO "A"')).toEqual([
      0, 1, 2, 3,
    ]);
    expect(undone('0: SAVEPOINT a', '0: W', '0: SAVEPOINT "A"', '0: W', '0: ROLLBACK TO "A"')).toEqual([
      2, 3,
    ]);
  });

  it('is everything before, where nobody saw the savepoint set', () => {
    expect(undone('0: W', '0: W', '0: ROLLBACK TO a')).toEqual([0, 1]);
  });

  it('is what a stack of marks leaves out', () => {
    const step = fc.constantFrom('W', 'SAVEPOINT a', 'SAVEPOINT b', 'ROLLBACK TO a', 'ROLLBACK TO b');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (drawn) => {
        // The slow twin: what is left when every ROLLBACK TO cuts the list of what was done. An engine refuses unknown names.
        const steps: string[] = [];
        let kept: { at: number; name?: string }[] = [];
        for (const sql of drawn) {
          const name = sql.at(-1)!;
          const at = steps.length;
          const from = kept.map((each) => each.name).lastIndexOf(name);
          if (sql.startsWith('ROLLBACK') && from < 0) continue;
          // The savepoint itself stays set.
          if (sql.startsWith('ROLLBACK')) kept = [...kept.slice(0, from), { at: -1, name }];
          kept.push(sql.startsWith('SAVEPOINT') ? { at, name } : { at });
          steps.push(sql);
        }
        const gone = undone(...steps.map((sql) => `0: ${sql}`));
        expect(gone.toSorted((a, b) => a - b)).toEqual(
          steps.map((_, at) => at).filter((at) => !kept.some((each) => each.at === at)),
        );
      }),
    );
  });
});
