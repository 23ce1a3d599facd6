import { expect, it } from 'vitest';
import { phraseParts } from './phrases.js';

it('takes sentences apart into words and references', () => {
  const parts = phraseParts({
    transactions: [{ id: 4, name: 'T1', session: 'T1', status: 'committed' }],
    explanation: [
      {
        reason: 'ran',
        says: [{ transaction: 4 }, ' ran ', { operation: 2, sql: 'SELECT 1' }, ' on ', { row: 't/1' }, '.'],
      },
    ],
  });
  expect(parts).toEqual([
    [
      { transaction: 'T1' },
      { text: ' ran ' },
      { operation: 2, sql: 'SELECT 1' },
      { text: ' on ' },
      { data: 't/1' },
      { text: '.' },
    ],
  ]);
});

it('data cannot pretend to be a reference', () => {
  const [parts] = phraseParts({
    transactions: [],
    explanation: [{ reason: 'fact', says: ['saw \ue0000\ue001 ', { data: '\ue0000\ue001' }] }],
  });
  expect(parts).toEqual([{ text: 'saw 0 ' }, { data: '\ue0000\ue001' }]);
});
