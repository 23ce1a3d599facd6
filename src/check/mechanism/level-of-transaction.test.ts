/** A transaction is held to the level it was begun at, however that is written; where it cannot be told, to none. */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

/** One row is read twice, and another transaction changes it in between. */
const reads = (begin: string, second: string) => `
  T1: ${begin}
  T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
  T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
  T1: SELECT id, v FROM t WHERE id = 1 -> ${second}
  T1: COMMIT`;
const [moved, kept] = ['1,11', '1,10'];

function kinds(text: string, id: string, header: Partial<History['header']> = {}) {
  const history = story(text);
  const verified = verifyMechanism(
    { ...history, header: { ...history.header, ...header } },
    findContract(id)!,
  );
  return verified.findings.map(({ kind }) => kind);
}

describe('a BEGIN that says READ COMMITTED', () => {
  it.each([
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    'begin isolation level read committed',
    'BEGIN ISOLATION LEVEL READ COMMITTED;',
    'BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY',
    'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
    'START TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE, NOT DEFERRABLE',
    'START TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED',
    'BEGIN ISOLATION LEVEL\n READ\n COMMITTED'.replaceAll('\n', '\t'),
    'BEGIN  ISOLATION  LEVEL  READ  COMMITTED',
    'BEGIN ISOLATION LEVEL READ COMMITTED NOT DEFERRABLE',
    'BEGIN ISOLATION LEVEL READ UNCOMMITTED',
  ])('%j sees what is committed meanwhile, whatever the run is held to', (begin) => {
    expect(kinds(reads(begin, moved!), 'postgres:repeatable-read')).toEqual([]);
    expect(kinds(reads(begin, kept!), 'postgres:repeatable-read')).toEqual(['stale-read']);
  });
});

describe('a BEGIN that says more', () => {
  it.each([
    'BEGIN ISOLATION LEVEL REPEATABLE READ',
    'BEGIN ISOLATION LEVEL REPEATABLE READ;',
    'BEGIN ISOLATION LEVEL SERIALIZABLE',
    'BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE',
    'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE',
    'BEGIN ISOLATION LEVEL REPEATABLE READ NOT DEFERRABLE',
    'START TRANSACTION DEFERRABLE, ISOLATION LEVEL SERIALIZABLE',
  ])('%s keeps its snapshot in a run at READ COMMITTED', (begin) => {
    expect(kinds(reads(begin, kept!), 'postgres:read-committed')).toEqual([]);
    expect(kinds(reads(begin, moved!), 'postgres:read-committed')).toEqual(['post-snapshot-read']);
  });
});

describe('a BEGIN that does not say it', () => {
  it.each(['BEGIN', 'BEGIN READ ONLY', 'START TRANSACTION', 'BEGIN WORK', 'BEGIN DEFERRABLE'])(
    '%s is held to the level of the run',
    (begin) => {
      expect(kinds(reads(begin, moved!), 'postgres:repeatable-read')).toEqual(['post-snapshot-read']);
      expect(kinds(reads(begin, moved!), 'postgres:read-committed')).toEqual([]);
    },
  );

  it('is held to the level of its session', () => {
    const header = { level: 'serializable', sessionLevels: { '0': 'read committed' } } as const;
    expect(kinds(reads('BEGIN', moved!), 'postgres:serializable', header)).toEqual([]);
    const other = { level: 'serializable', sessionLevels: { '1': 'read committed' } } as const;
    expect(kinds(reads('BEGIN', moved!), 'postgres:serializable', other)).not.toEqual([]);
  });
});

describe('a session that changes its level', () => {
  it.each([
    'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
    'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED',
    "SET default_transaction_isolation = 'read committed'",
    'SET autocommit = 0',
  ])('with %s is not judged from then on, and that is said', (set) => {
    const inside = `
      T1: BEGIN
      T1: ${set}
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T1: COMMIT`;
    const before = `T1: ${set}\n${reads('BEGIN', moved!)}`;
    for (const text of [inside, before]) {
      const { findings, skipped } = verifyMechanism(story(text), findContract('postgres:repeatable-read')!);
      expect(findings).toEqual([]);
      expect(skipped).toMatchObject([{ what: 'read', reason: expect.stringContaining(set), count: 2 }]);
    }
  });

  it('leaves other sessions to their level', () => {
    const text = `T2: SET TRANSACTION ISOLATION LEVEL READ COMMITTED\n${reads('BEGIN', moved!)}`;
    expect(kinds(text, 'postgres:repeatable-read')).toEqual(['post-snapshot-read']);
  });

  it('with another setting is judged as before', () => {
    const text = `T1: SET enable_seqscan = off\n${reads('BEGIN', moved!)}`;
    expect(kinds(text, 'postgres:repeatable-read')).toEqual(['post-snapshot-read']);
  });
});

describe('a level of which nobody says how it works', () => {
  it('is not judged, and that is said', () => {
    const text = reads('BEGIN ISOLATION LEVEL SNAPSHOT', moved!);
    const { findings, skipped } = verifyMechanism(story(text), findContract('postgres:repeatable-read')!);
    expect(findings).toEqual([]);
    expect(skipped).toMatchObject([{ what: 'read', reason: expect.stringContaining('snapshot') }]);
  });
});
