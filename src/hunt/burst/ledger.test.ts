import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { judgeLedger, type LedgerKind, ledgerStatements } from './ledger.js';
import { ledgerPrograms } from './ledger-programs.js';

type Sent = readonly [
  transaction: number,
  statement: LedgerKind | { readonly sql: string },
  key: number,
  answer?: Partial<Operation>,
];

/** Statements of transactions; all of them committed but those that `ends` names. */
function history(sent: readonly Sent[], ends: Readonly<Record<number, Operation['ends']>> = {}): History {
  const operations = sent.map(([transaction, statement, key, answer], index) => {
    const sql =
      typeof statement === 'string' ? ledgerStatements[statement].sql(key, 'postgres', '') : statement.sql;
    const base = { index, session: transaction, transaction, kind: 'other', start: index, end: index };
    return { ...base, sql, outcome: 'ok', ends: ends[transaction] ?? 'commit', ...answer };
  });
  return { header: { sessions: ['T1'] }, operations: operations as unknown as Operation[] };
}

/** The rows of the set-up, with others in their place or beside them; null: gone. */
function rows(changes: Readonly<Record<number, number | null>> = {}): (readonly [number, number])[] {
  const all = new Map<number, number | null>([
    ...([[1, 0] as const, [2, 0] as const, [11, 0] as const] as const),
    ...Object.entries(changes).map(([key, v]) => [Number(key), v] as const),
  ]);
  return [...all].flatMap(([key, v]) => (v === null ? [] : [[key, v] as const]));
}

const say = (of: History, final: (readonly [number, number])[]) => judgeLedger(of, final)?.text;
const right = 'as it must be';

describe('the ledger of a burst', () => {
  it('adds what updates, upserts and merges were acknowledged for, and nothing that was rolled back', () => {
    const sent = history(
      [
        [1, 'add', 1],
        [2, 'upsert', 100],
        [3, 'merge', 100],
        [4, 'add', 1],
      ],
      { 4: 'rollback' },
    );
    expect(say(sent, rows({ 1: 1, 100: 2 }))).toBe(right);
    expect(say(sent, rows({ 1: 1, 100: 1 }))).toBe('1 numbers too small');
    expect(say(sent, rows({ 1: 2, 100: 2 }))).toBe('1 numbers too large');
    expect(say(sent, rows({ 1: 1 }))).toBe('1 numbers too small');
  });

  it('lets what nobody answered for count or not', () => {
    const sent = history([[1, 'add', 1, { outcome: 'unknown' }]], { 1: 'unknown' });
    expect([0, 1, 2].map((v) => say(sent, rows({ 1: v })))).toEqual([right, right, '1 numbers too large']);
  });

  it('has a key as often as the server counted it in and out', () => {
    const found = history([[1, 'delete', 11, { matched: 1 }]]);
    expect(say(found, rows({ 11: null }))).toBe(right);
    expect(say(found, rows())).toBe('1 keys too many');
    // A DELETE that waited for another may find nothing, and says so.
    const passed = history([
      [1, 'delete', 11, { matched: 1 }],
      [2, 'delete', 11, { matched: 0 }],
      [1, 'insert', 11],
    ]);
    expect(say(passed, rows())).toBe(right);
    expect(say(passed, rows({ 11: null }))).toBe('1 keys missing');
    // Two that deleted one row: one of them did not see the other.
    const both = history([
      [1, 'delete', 11, { matched: 1 }],
      [1, 'insert', 11],
      [2, 'delete', 11, { matched: 1 }],
      [2, 'insert', 11],
    ]);
    expect(say(both, rows())).toBe(right);
    expect(say(both, rows({ 11: null }))).toBe('1 keys missing');
  });

  it('knows what is inside one request, where nobody counts rows', () => {
    const body = [ledgerStatements.delete, ledgerStatements.insert].map(({ sql }) => sql(11));
    const texts = [body.join('; '), `DO $$ BEGIN ${body.join('; ')}; END $$`, 'CALL burst_0()'];
    for (const sql of texts) {
      const sent = history([[1, { sql }, 0, { matched: 0 }]]);
      const setup = [`CREATE PROCEDURE burst_0() BEGIN ${body.join('; ')}; END`];
      const called = { ...sent, header: { ...sent.header, setup } };
      expect(say(called, rows())).toBe(right);
      expect(say(called, rows({ 11: null })), sql).toBe('1 keys missing');
    }
  });

  it('has no key twice, and every key that somebody made sure of and nobody deleted', () => {
    const sent = history([[1, 'ensure', 100, { matched: 0 }]]);
    expect(say(sent, rows())).toBe('1 keys missing');
    expect(say(history([[1, 'ensure', 100, { matched: 1 }]]), rows({ 100: 0 }))).toBe(right);
    expect(say(history([]), [...rows(), [11, 0]])).toBe('1 keys twice');
    const deleted = history([
      [1, 'absent', 12, { matched: 0 }],
      [2, 'delete', 12, {}],
    ]);
    expect(say(deleted, rows())).toBe(right);
  });

  it('reads no number twice under a lock that was held until its transaction added to it', () => {
    const read = (v: number) => ({ rows: [[v]] });
    const sent = (second: number, ends = {}) =>
      history(
        [
          [1, 'lock', 1, read(0)],
          [1, 'add', 1],
          [2, 'lock', 1, read(second)],
          [2, 'add', 1],
        ],
        ends,
      );
    expect(say(sent(1), rows({ 1: 2 }))).toBe(right);
    expect(say(sent(0), rows({ 1: 2 }))).toBe('1 number read twice under a lock');
    expect(say(sent(0, { 2: 'rollback' }), rows({ 1: 1 }))).toBe(right);
    // One that had added before reads what it added, and the next one reads that again.
    const own = history([
      [1, 'add', 1],
      [1, 'lock', 1, read(1)],
      [1, 'add', 2],
      [2, 'lock', 1, read(1)],
      [2, 'add', 1],
    ]);
    expect(say(own, rows({ 1: 2, 2: 1 }))).toBe(right);
  });
});

it('is asked of levels that replace no version twice and conclude nothing from what is rolled back', () => {
  const asks = (id: string) => ledgerPrograms[0]!.clause(findContract(id)!) !== undefined;
  expect(['postgres:read-committed', 'mariadb:repeatable-read', 'duckdb:snapshot'].map(asks)).toEqual([
    ...[true, true, true],
  ]);
  expect(['mariadb:read-uncommitted', 'tidb:snapshot+optimistic', 'adya:PL-2'].map(asks)).toEqual([
    ...[false, false, false],
  ]);
});
