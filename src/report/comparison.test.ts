import { expect, it } from 'vitest';
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import { compareAnswers } from './comparison.js';

it('says what the whole answer should have been, whatever its texts hold', () => {
  const history = {
    header: { sessions: ['T1'] },
    operations: [
      {
        ...{ index: 0, session: 0, transaction: 0, kind: 'select', sql: 'SELECT * FROM t', start: 1, end: 2 },
        ...{ outcome: 'ok', columns: ['s', 'v'] },
        rows: [
          ['a, b', 1],
          ['x', 2],
        ],
      },
    ],
  } as unknown as History;
  const finding = {
    ...{ kind: 'stale-read', oracle: 'mechanism', operations: [{ index: 0, transaction: 0, text: '' }] },
    versions: [
      {
        ...{ operation: 0, object: 't/1' },
        seen: { as: 'values', text: '(a, b, 1)', width: 2 },
        allowed: [{ as: 'values', text: '(c, d, 1)', width: 2 }],
      },
    ],
  } as unknown as Finding;
  expect(compareAnswers({ finding, history })).toEqual([
    {
      ...{ transaction: 'T1', statement: 'SELECT * FROM t' },
      ...{ actual: '(a, b, 1) (x, 2)', expected: '(c, d, 1) (x, 2)' },
    },
  ]);
});
