import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExplanationStyle, explain, explainOrdered, explainSteps } from './explain.js';
import {
  at,
  during,
  joined,
  ofData,
  ofOperation,
  ofRow,
  ofTransaction,
  type Piece,
  phrase,
  referencesOf,
  say,
  withNames,
} from './explanation.js';

const transactions = [{ id: 0, name: 'T1', session: 'T1', status: 'committed' }] as const;
const explanation = [
  say.ran`${ofTransaction(0)} ran ${ofOperation({ index: 4, sql: 'SELECT 1', kind: 'select' })}${at(7)}.`,
  say.allowed`Of ${ofRow('t/1')} it may see ${{
    version: '(1, 10)',
    writer: { transaction: 3, name: 'T2#2', fate: 'unknown' },
    doubtful: true,
  }} or ${{ version: '(1, 9)' }}.`,
  say.contradiction`However, it returned ${ofData('(1, 8)')}${during({ start: 1, end: Number.POSITIVE_INFINITY })}.`,
];

describe('explanations', () => {
  it('are text with times, or without', () => {
    expect(explain({ explanation, transactions })).toMatchInlineSnapshot(`
      "T1 ran operation 4 (SELECT 1) at 7.
      Of t/1 it may see (1, 10) by T2#2, perhaps committed, if it wrote the row or (1, 9) from the initial state.
      However, it returned (1, 8) in [1, …]."
    `);
    expect(explainOrdered({ explanation, transactions })).toMatchInlineSnapshot(`
      "T1 ran operation 4 (SELECT 1).
      Of t/1 it may see (1, 10) by T2#2, perhaps committed, if it wrote the row or (1, 9) from the initial state.
      However, it returned (1, 8)."
    `);
  });

  it('say what they refer to', () => {
    expect(referencesOf(explanation)).toEqual({ transactions: [0, 3], operations: [4], rows: ['t/1'] });
  });

  it('survive as JSON', () => {
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
  });

  it('name the transactions that a finding does not list', () => {
    const says = phrase`${ofTransaction(5)} and ${ofTransaction(6)}`;
    expect(withNames(says, (id) => (id === 5 ? 'T5' : undefined))).toEqual([
      { transaction: 5, name: 'T5' },
      ' and ',
      { transaction: 6 },
    ]);
  });

  it('keep words together and leave out what is empty', () => {
    expect(phrase`a ${'b'} ${3}${[]}${''} c`).toEqual(['a b 3 c']);
    expect(joined([ofRow('x'), phrase`y ${ofRow('z')}`], ', ')).toEqual([
      { row: 'x' },
      ', ',
      'y ',
      { row: 'z' },
    ]);
  });

  it('never take data for words, whatever it is', () => {
    const piece: fc.Arbitrary<Piece> = fc.oneof(
      fc.constant('words'),
      fc.record({ data: fc.string() }),
      fc.record({ row: fc.string() }),
      fc.record({ operation: fc.nat(), sql: fc.string() }),
      fc.record({ transaction: fc.nat(), name: fc.string() }),
      fc.record({ source: fc.record({ title: fc.string(), url: fc.string() }) }),
      fc.record({ version: fc.string() }),
    );
    const words = new Set<string>();
    const marked: ExplanationStyle = {
      words: (text) => {
        words.add(text);
        return '';
      },
      ...{ transaction: () => 'x', operation: () => 'x', data: () => 'x', source: () => 'x' },
    };
    fc.assert(
      fc.property(fc.array(piece), (says) => {
        const [text] = explainSteps({ explanation: [{ reason: 'fact', says }], transactions }, marked);
        expect(text).toBe('x'.repeat(says.filter((each) => typeof each !== 'string').length));
      }),
    );
    expect([...words].sort()).toEqual([' from the initial state', 'words']);
  });
});
