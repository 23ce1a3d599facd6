import { describe, expect, it } from 'vitest';
import type { ErrorClass, Operation } from '../histories/index.js';
import { findProbeCases, probeCases } from './cases/index.js';
import { judge } from './judge.js';
import { type Answers, answered } from './scripted-answers.case.js';

const probe = (id: string) => findProbeCases(id).find((candidate) => candidate.id === id)!;
const row = (...rows: [number, number][]): Partial<Operation> => ({ rows });
const initial = row([1, 10], [2, 20]);
const error = (errorClass: ErrorClass, more: Partial<Operation> = {}): Partial<Operation> => ({
  error: { class: errorClass, message: `it was ${errorClass}` },
  ...more,
});

/** For every case: answers that show the anomaly, and answers that nearly do. */
const stories: Readonly<Record<string, { readonly shows: Answers; readonly nearly: Answers }>> = {
  G0: {
    shows: { 'after 0': row([1, 12], [2, 21]) },
    nearly: { 'after 0': row([1, 12], [2, 22]) },
  },
  G1a: {
    shows: { 'T2 1': row([1, 101], [2, 20]), 'T2 2': initial },
    nearly: { 'T2 1': initial, 'T2 2': initial },
  },
  G1b: {
    shows: { 'T2 1': row([1, 101], [2, 20]), 'T2 2': row([1, 11], [2, 20]) },
    nearly: { 'T2 1': initial, 'T2 2': row([1, 11], [2, 20]) },
  },
  G1c: {
    shows: { 'T1 2': row([2, 22]), 'T2 2': row([1, 11]) },
    nearly: { 'T1 2': row([2, 22]), 'T2 2': row([1, 10]) },
  },
  OTV: {
    shows: { 'T3 1': row([1, 12]), 'T3 2': row([2, 19]), 'T3 3': row([2, 18]), 'T3 4': row([1, 12]) },
    nearly: { 'T3 1': row([1, 11]), 'T3 2': row([2, 19]), 'T3 3': row([2, 18]), 'T3 4': row([1, 12]) },
  },
  PMP: { shows: { 'T1 2': row([3, 30]) }, nearly: { 'T1 1': row([3, 30]), 'T1 2': row([3, 30]) } },
  'PMP-write': { shows: { 'T2 2': row([1, 20]) }, nearly: {} },
  'PMP-write-after-read': {
    shows: { 'T2 1': row([2, 20]), 'after 0': row([2, 30]) },
    nearly: { 'T2 1': row([1, 20]), 'after 0': row([2, 30]) },
  },
  'PMP-write-stale-after-delete': {
    shows: { 'T2 1': initial, 'T2 3': initial },
    nearly: { 'T2 1': initial, 'T2 3': row() },
  },
  'PMP-write-subquery': {
    shows: { 'T1 1': row([1, 5]), 'after 0': row([1, 5], [2, 100]) },
    nearly: { 'T1 1': row([1, 5]), 'after 0': row([1, 7], [2, 100]) },
  },
  'lost-update': {
    shows: { 'T1 1': row([1, 10]), 'T2 1': row([1, 10]), 'after 0': row([1, 12]) },
    nearly: { 'T1 1': row([1, 10]), 'T2 1': row([1, 11]), 'after 0': row([1, 12]) },
  },
  'lost-update-expression': {
    shows: { 'after 0': row([1, 17]) },
    nearly: { 'after 0': row([1, 22]) },
  },
  'lost-update-deleted-row': {
    shows: { 'T1 1': initial, 'T2 1': initial, 'after 0': row([2, 20]) },
    nearly: {
      'T1 1': initial,
      'T2 1': initial,
      'T2 2': { matched: 0, changed: 0 },
      'after 0': row([2, 20]),
    },
  },
  'lost-update-by-delete': {
    shows: { 'T1 1': initial, 'T2 1': initial, 'after 0': row([2, 20]) },
    nearly: { 'T1 1': initial, 'T2 1': row([1, 55], [2, 20]), 'after 0': row([2, 20]) },
  },
  'read-skew': {
    shows: { 'T1 1': row([1, 10]), 'T1 2': row([2, 18]) },
    nearly: { 'T1 1': row([1, 12]), 'T1 2': row([2, 18]) },
  },
  'G-single-predicate': {
    shows: { 'T1 1': initial, 'T1 2': row([1, 12]) },
    nearly: { 'T1 1': initial, 'T1 2': row() },
  },
  'G-single-write-predicate': {
    shows: { 'T1 1': row([1, 10]), 'after 0': row([1, 12], [2, 18]) },
    nearly: { 'T1 1': row([1, 12]), 'after 0': row([1, 12], [2, 18]) },
  },
  'read-write-skew': {
    shows: { 'T1 1': row([1, 10]), 'after 0': row([1, 12], [2, 21]) },
    nearly: { 'T1 1': row([1, 10]), 'after 0': row([1, 12], [2, 22]) },
  },
  'G-nonadjacent': {
    shows: { 'T4 1': row([1, 10]), 'T3 1': row([1, 11]), 'T3 2': row([2, 20]), 'T4 2': row([2, 22]) },
    nearly: { 'T4 1': row([1, 10]), 'T3 1': row([1, 11]), 'T3 2': row([2, 20]), 'T4 2': row([2, 20]) },
  },
  'write-skew': {
    shows: { 'T1 1': initial, 'T2 1': initial, 'after 0': row([1, 11], [2, 21]) },
    nearly: { 'T1 1': initial, 'T2 1': row([1, 11], [2, 20]), 'after 0': row([1, 11], [2, 21]) },
  },
  'G2-item-read-only': {
    shows: { 'T1 1': initial, 'T3 1': row([1, 10], [2, 25]), 'after 0': row([1, 0], [2, 25]) },
    nearly: { 'T1 1': initial, 'T3 1': initial, 'after 0': row([1, 0], [2, 25]) },
  },
  G2: {
    shows: { 'after 0': row([1, 10], [2, 20], [3, 30], [4, 42]) },
    nearly: { 'T2 1': row([3, 30]), 'after 0': row([1, 10], [2, 20], [3, 30], [4, 42]) },
  },
  'own-write': {
    shows: { 'T1 4': initial },
    nearly: { 'T1 4': row([1, 11], [2, 20], [3, 30]) },
  },
  'own-write-no-op': {
    shows: { 'T2 1': initial, 'T2 3': initial },
    nearly: { 'T2 1': initial, 'T2 3': row([1, 99], [2, 99]) },
  },
};

describe('the question of each case', () => {
  it('has a story for every case', () => {
    expect(Object.keys(stories)).toEqual(probeCases.map(({ id }) => id));
  });

  it.each(Object.entries(stories))(
    '%s: tells what shows it from what nearly does',
    (id, { shows, nearly }) => {
      expect(judge(probe(id), answered(probe(id), shows))).toMatchObject({ verdict: 'allowed' });
      expect(judge(probe(id), answered(probe(id), nearly))).toMatchObject({ verdict: 'prevented' });
    },
  );
});

describe('a run that did not go through as written', () => {
  const lost = probe('lost-update');
  const shows = stories['lost-update']!.shows;
  const judged = (answers: Answers) => judge(lost, answered(lost, { ...shows, ...answers }));

  it.each(['deadlock', 'serialization', 'busy', 'constraint'] as const)(
    'is prevented when a statement was refused: %s',
    (errorClass) => {
      expect(judged({ 'T2 2': error(errorClass), 'T2 3': 'not sent' })).toEqual({
        verdict: 'prevented',
        reason: `T2: UPDATE test SET value = 12 WHERE id = 1 ✗ ${errorClass}: it was ${errorClass}`,
      });
    },
  );

  it('is blocked when a statement waited before it was refused', () => {
    expect(judged({ 'T2 2': error('serialization', { blocked: true }) })).toEqual({
      verdict: 'blocked',
      reason:
        'after a wait, T2: UPDATE test SET value = 12 WHERE id = 1 ✗ serialization: it was serialization',
    });
  });

  it('is blocked when one statement waited and another was refused', () => {
    const { verdict, reason } = judged({ 'T1 2': { blocked: true }, 'T2 2': error('deadlock') });
    expect(verdict).toBe('blocked');
    expect(reason).toContain('value = 11 WHERE id = 1 waited for another session; T2: UPDATE');
  });

  it('is blocked when a lock was waited for until time was up', () => {
    expect(judged({ 'T2 2': error('lock-timeout') }).verdict).toBe('blocked');
  });

  it('is prevented when a doomed transaction’s COMMIT rolls back, and the first error is the reason', () => {
    const { verdict, reason } = judged({
      'T2 2': error('serialization'),
      'T2 3': { ends: 'rollback' },
    });
    expect(verdict).toBe('prevented');
    expect(reason).toContain('UPDATE');
  });

  it('is prevented when COMMIT says it rolled back although nothing failed before', () => {
    expect(judged({ 'T2 3': { ends: 'rollback' } })).toEqual({
      verdict: 'prevented',
      reason: 'T2: COMMIT ✗ rolled back',
    });
  });

  it('names the refusal, not the statements refused because of it', () => {
    const { reason } = judged({
      'T1 2': error('transaction-aborted'),
      'T2 2': error('deadlock'),
    });
    expect(reason).toContain('deadlock');
  });

  it.each([
    'syntax',
    'unsupported',
    'data',
    'connection-lost',
    'crash',
    'other',
    'statement-timeout',
    'cancelled',
  ] as const)('is unknown after an error that says nothing about isolation: %s', (errorClass) => {
    expect(judged({ 'T2 2': error(errorClass) }).verdict).toBe('unknown');
  });

  it('is blocked when a waiting statement ran out of time', () => {
    expect(judged({ 'T2 2': error('statement-timeout', { blocked: true }) }).verdict).toBe('blocked');
  });

  it.each([
    ['an answer never came', { 'T2 3': { outcome: 'unknown', end: null } }, 'may or may not'],
    ['a statement was not sent', { 'T2 2': 'not sent' }, 'was not sent'],
    ['COMMIT does not tell', { 'T2 3': { ends: 'unknown' } }, 'did not say whether it committed'],
    ['the final read came too early', { 'T2 3': { end: 1e9 } }, 'was read before'],
    ['a value is no integer', { 'after 0': { rows: [[1, '12']] } }, 'two integers'],
  ] as [string, Answers, string][])('is unknown when %s', (_, answers, reason) => {
    const judgement = judged(answers);
    expect(judgement.verdict).toBe('unknown');
    expect(judgement.reason).toContain(reason);
  });

  it('is unknown when the question needs a count the engine does not report', () => {
    const deleted = probe('lost-update-deleted-row');
    const history = answered(deleted, stories['lost-update-deleted-row']!.shows);
    const operations = history.operations.map(({ matched, changed, ...rest }) => rest);
    expect(judge(deleted, { ...history, operations }).verdict).toBe('unknown');
  });

  it('is blocked, not prevented, when a wait kept everything in order', () => {
    const { verdict } = judge(
      probe('G0'),
      answered(probe('G0'), { 'T2 1': { blocked: true }, 'after 0': row([1, 12], [2, 22]) }),
    );
    expect(verdict).toBe('blocked');
  });
});
