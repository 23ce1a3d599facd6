import { describe, expect, it } from 'vitest';
import type { ActKind } from './act-kind.js';
import { headlineOfCause } from './headline.js';

const update: ActKind = { kind: 'update' };
const remove: ActKind = { kind: 'delete' };

const conflict = (a: ActKind, b: ActKind, more = {}) => ({
  writes: [a, b] as const,
  otherColumns: false,
  ...more,
});
const missed = (...conflicts: ReturnType<typeof conflict>[]) =>
  headlineOfCause({ name: 'missed-conflict', lines: [], conflicts });

describe('the headline of a bug', () => {
  it('names the statements that should have conflicted', () => {
    expect(missed(conflict(remove, update))).toBe('Concurrent DELETE and UPDATE of one row do not conflict');
    expect(missed(conflict(update, update))).toBe('Concurrent UPDATEs of one row do not conflict');
    expect(missed(conflict(update, update, { otherColumns: true }))).toBe(
      'Concurrent UPDATEs of different columns of one row do not conflict',
    );
    expect(missed(conflict(update, { kind: 'update', manner: 'null' }))).toBe(
      'Concurrent UPDATE and UPDATE to NULL of one row do not conflict',
    );
    expect(missed(conflict(update, update, { moment: 'while the first is open' }))).toBe(
      'Concurrent UPDATEs of one row do not wait for each other',
    );
    expect(missed(conflict(remove, update), conflict(update, update))).toBe(
      'Concurrent writes of one row do not conflict',
    );
  });

  it('names the own write that does not show', () => {
    const around = {
      judged: { kind: 'select' },
      own: [{ kind: 'update', manner: 'key' }],
      others: [{ state: 'committed', writes: [{ kind: remove, repeated: false }] }],
    } as const;
    expect(headlineOfCause({ name: 'own-write-missed', lines: [], around })).toBe(
      'A transaction does not see its own UPDATE of a key beside a concurrent transaction',
    );
    expect(headlineOfCause({ name: 'own-write-missed', lines: [] })).toBe(
      'A transaction does not see its own write',
    );
  });

  it('is otherwise what the kind is called', () => {
    expect(headlineOfCause({ name: 'write-skew', lines: [] })).toBe('Write skew (A5B)');
  });
});
