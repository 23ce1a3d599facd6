/** A schedule that the inference made satisfies what it must; one that somebody spoilt does not, and is told why. */
import { describe, expect, it } from 'vitest';
import type { Schedule, StatementRef } from '../cases/index.js';
import { findContract } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import { openInference } from './infer.js';
import { brokenInvariants } from './invariants.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

type Line = readonly [session: number, sql: string, answer?: number | number[][]];

/** Statements one after another, each session one transaction. */
function serial(lines: readonly Line[]): History {
  const operations = lines.map(([session, sql, answer], index): Operation => {
    const kind = sql.split(' ')[0]!.toLowerCase() as 'select';
    const base = { index, session, transaction: session, kind, sql, start: index * 10, end: index * 10 + 5 };
    return {
      ...{ ...base, outcome: 'ok' },
      ...((kind as string) === 'commit' && { ends: 'commit' as const }),
      ...(Array.isArray(answer) && { columns: ['id', 'v'], rows: answer }),
      ...(typeof answer === 'number' && { matched: answer }),
    };
  });
  return { header: { sessions: ['A', 'B'], dialect: 'postgres', setup }, operations };
}

const history = serial([
  [0, 'BEGIN'],
  [1, 'BEGIN'],
  [0, 'UPDATE t SET v = 11 WHERE id = 1', 1],
  [0, 'COMMIT'],
  [1, 'SELECT id, v FROM t WHERE id = 1', [[1, 11]]],
  [1, 'UPDATE t SET v = 12 WHERE id = 1', 1],
  [1, 'COMMIT'],
]);
const { evidence, order } = openInference(history, findContract('postgres:read-committed')!);
const inferred = order().schedule;

const text = (batches: Schedule['batches']) =>
  batches.map((batch) => batch.map(([s, p]) => `${s}.${p}`).join(' '));
const parsed = (lines: readonly string[]): Schedule => ({
  batches: lines.map((line) =>
    line.split(' ').map((ref) => ref.split('.').map(Number) as unknown as StatementRef),
  ),
});

function broken(lines: readonly string[], exempt: ReadonlySet<number> = new Set(), limit?: number): string[] {
  return brokenInvariants(evidence, parsed(lines), exempt, limit).map(({ invariant }) => invariant);
}

describe('a schedule', () => {
  it('as inferred breaks nothing', () => {
    expect(brokenInvariants(evidence, inferred, new Set())).toEqual([]);
    expect(broken(text(inferred.batches))).toEqual([]);
    expect(broken(['0.0', '0.1', '0.2', '1.0', '1.1', '1.2', '1.3'])).toEqual([]);
  });

  it.each([
    ['leaves a statement out', ['0.0', '0.1', '0.2', '1.0', '1.1', '1.2']],
    ['sends one twice', ['0.0', '0.0', '0.1', '0.2', '1.0', '1.1', '1.2', '1.3']],
    ['changes the order of a session', ['0.1', '0.0', '0.2', '1.0', '1.1', '1.2', '1.3']],
    ['has two of a session in a batch', ['0.0 0.1', '0.2', '1.0', '1.1', '1.2', '1.3']],
  ])('that %s breaks program order, and nothing else is asked', (_, lines) => {
    expect(broken(lines)).toEqual(['program order']);
  });

  it.each([
    ['a read before the COMMIT of what it saw', ['0.0 1.0', '0.1', '1.1', '0.2', '1.2', '1.3'], 'version'],
    ['a read beside that COMMIT', ['0.0 1.0', '0.1', '0.2 1.1', '1.2', '1.3'], 'conflict in a batch'],
    ['two writers of a row at once', ['0.0 1.0', '0.1', '1.1', '1.2', '0.2', '1.3'], 'lock'],
  ])('that has %s is told so', (_, lines, invariant) => {
    expect(broken(lines)).toContain(invariant);
  });

  it('is not blamed for steps that nothing explains', () => {
    const early = ['0.0 1.0', '0.1', '1.1', '0.2', '1.2', '1.3'];
    const read = evidence.steps.firstOf[1]! + 1;
    expect(broken(early, new Set([read]))).toEqual([]);
  });

  it('is told no more than was asked for', () => {
    const early = ['0.0 1.0', '0.1', '1.1', '1.2', '0.2', '1.3'];
    expect(broken(early).length).toBeGreaterThan(1);
    expect(broken(early, new Set(), 1)).toHaveLength(1);
  });

  it('names statement and row of what is broken', () => {
    const [found] = brokenInvariants(
      evidence,
      parsed(['0.0 1.0', '0.1', '1.1', '0.2', '1.2', '1.3']),
      new Set(),
    );
    expect(found).toMatchObject({
      batch: 2,
      what: expect.stringMatching(/^B: SELECT id, v FROM t.*\bt\b.*newest/),
    });
  });
});
