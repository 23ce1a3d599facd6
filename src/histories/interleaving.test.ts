import { describe, expect, it } from 'vitest';
import type { History, Operation } from './history.js';
import { interleave, renderInterleaving, resultText } from './interleaving.js';

const operation = (
  session: number,
  start: number,
  end: number | null,
  sql: string,
  more: Partial<Operation> = {},
): Operation => ({
  index: 0,
  session,
  transaction: session,
  kind: 'select',
  sql,
  start,
  end,
  outcome: 'ok',
  ...more,
});

const history = (...operations: Operation[]): History => ({
  header: { sessions: ['T1', 'T2'] },
  operations: operations.map((each, index) => ({ ...each, index })),
});

describe('an interleaving', () => {
  it('puts each operation into the column of its session, with its result below', () => {
    const drawn = renderInterleaving(
      history(
        operation(0, 0, 10, 'BEGIN', { kind: 'begin' }),
        operation(1, 20, 30, 'SELECT * FROM t', { columns: ['id', 'v'], rows: [[1, null]] }),
        operation(0, 40, 50, 'UPDATE t SET v = 1', { kind: 'update', matched: 2, changed: 0 }),
      ),
    );
    expect(drawn).toMatchInlineSnapshot(`
      "T1                     │ T2
      ───────────────────────┼────────────────
      BEGIN                  │
                             │ SELECT * FROM t
                             │ → (1, NULL)
      UPDATE t SET v = 1     │
      → 2 matched, 0 changed │"
    `);
  });

  it('numbers the operations for texts that refer to them', () => {
    const drawn = renderInterleaving(
      history(
        operation(0, 0, 100, 'UPDATE t SET v = 2', { kind: 'update', matched: 1, blocked: true }),
        operation(1, 10, 20, 'COMMIT', { kind: 'commit' }),
        operation(1, 120, 130, 'SELECT 1', { transaction: 7 }),
      ),
      { numbered: true },
    );
    expect(drawn).toMatchInlineSnapshot(`
      "  │ T1                 │ T2
      ──┼────────────────────┼───────────────
      0 │ UPDATE t SET v = 2 │
        │ … blocks           │
      1 │                    │ COMMIT
      0 │ → 1 matched        │
      2 │                    │ T2#2: SELECT 1"
    `);
  });

  it('shows a blocked statement where it was sent and again where it was answered', () => {
    const entries = interleave(
      history(
        operation(0, 0, 100, 'UPDATE t SET v = 2', { kind: 'update', matched: 1, blocked: true }),
        operation(1, 10, 20, 'COMMIT', { kind: 'commit' }),
      ),
    );
    expect(entries.map(({ session, part, result }) => [session, part, result])).toEqual([
      [0, 'sent', '… blocks'],
      [1, 'whole', ''],
      [0, 'answered', '→ 1 matched'],
    ]);
  });

  it('puts what was never answered last', () => {
    const lost = { outcome: 'unknown', error: { class: 'crash', message: 'gone' } } as const;
    const entries = interleave(
      history(operation(0, 0, null, 'COMMIT', lost), operation(1, 10, 20, 'SELECT 1')),
    );
    expect(entries.at(-1)?.result).toBe('✗ crash: gone (its effect is unknown)');
  });

  it('says that a COMMIT rolled back', () => {
    expect(resultText(operation(0, 0, 1, 'COMMIT', { kind: 'commit', ends: 'rollback' }))).toBe(
      '✗ rolled back',
    );
  });

  it('keeps within its width and lets no control character through', () => {
    const drawn = renderInterleaving(
      history(
        operation(0, 0, 1, `SELECT '${'x'.repeat(150)}'`),
        operation(1, 2, 3, "SELECT '\u001b[31mred\n'"),
      ),
      { width: 70 },
    );
    expect(Math.max(...drawn.split('\n').map((line) => line.length))).toBeLessThanOrEqual(70);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not get through
    expect(drawn).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(drawn).toContain('\\x1b[31mred\\n');
  });
});
