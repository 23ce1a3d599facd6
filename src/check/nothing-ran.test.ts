import { expect, it } from 'vitest';
import type { History, Operation, OperationError } from '../histories/index.js';
import { check } from './check.js';
import { nothingRan, nothingRanReason } from './nothing-ran.js';

type Sent = readonly [kind: Operation['kind'], sql: string, error?: OperationError['class']];

function history(...sent: readonly Sent[]): History {
  const operations = sent.map(
    ([kind, sql, error], index): Operation => ({
      ...{ index, session: 0, transaction: 0, kind, sql, start: index, end: index + 0.5, outcome: 'ok' },
      ...(error !== undefined && { outcome: 'error', error: { class: error, message: error } }),
    }),
  );
  const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1)'];
  return { header: { sessions: ['T1'], dialect: 'duckdb', setup }, operations };
}

it.each<[what: string, sent: readonly Sent[], nothing: boolean]>([
  ['a misspelt word', [['other', 'SELEC 1', 'syntax']], true],
  [
    'words between BEGIN and COMMIT',
    [
      ['begin', 'BEGIN'],
      ['other', 'x', 'other'],
      ['commit', 'COMMIT'],
    ],
    true,
  ],
  [
    'one statement of two',
    [
      ['other', 'x', 'syntax'],
      ['select', 'SELECT 1'],
    ],
    false,
  ],
  ['a conflict', [['update', 'UPDATE t SET v = 2', 'serialization']], false],
  ['a key that is taken', [['insert', 'INSERT INTO t VALUES (1, 2)', 'constraint']], false],
  [
    'BEGIN and COMMIT alone',
    [
      ['begin', 'BEGIN'],
      ['commit', 'COMMIT'],
    ],
    false,
  ],
  ['nothing', [], false],
])('%s', (_, sent, nothing) => {
  expect(nothingRan(history(...sent))).toBe(nothing);
});

it('leaves the verdict on a recorded history open, with the reason', () => {
  const judged = check(history(['begin', 'BEGIN'], ['other', 'SELEC * FROM t', 'syntax']), 'duckdb:snapshot');
  expect(judged.valid).toBe('unknown');
  expect(judged.unknownReasons).toContain(nothingRanReason);
});
