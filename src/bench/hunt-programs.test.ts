import { describe, expect, it } from 'vitest';
import { findCapabilities } from '../generate/index.js';
import { answers, programCounts } from './hunt-programs.js';

describe('programs of default hunts', () => {
  it.each(['postgres', 'mariadb', 'duckdb'])(
    'of %s are often about contended keys, and all run freely once',
    (name) => {
      const oracles = [{ name: 'mechanism', rounds: 8 }];
      const options = {
        seed: '1',
        capabilities: findCapabilities(name)!,
        levels: ['read committed'],
        oracles,
      } as const;
      const counts = programCounts(options, 1_000);
      // Before there were scenarios, 3,000 programs had 12 to 16 of the first, none of the next four, and 60 of the last: 1,000 have to have 20 times that.
      expect(counts.get('the same key inserted by two sessions')).toBeGreaterThanOrEqual(107);
      expect(counts.get('the same unique value written by two sessions')).toBeGreaterThanOrEqual(40);
      expect(counts.get('a key left to the database')).toBeGreaterThanOrEqual(40);
      expect(counts.get('INTEGER PRIMARY KEY')).toBeGreaterThanOrEqual(50);
      expect(counts.get('INSERT if absent')).toBeGreaterThanOrEqual(50);
      expect(counts.get('run freely in one of their rounds')).toBe(1_000);
    },
  );

  it('are asked what they are about by their text', () => {
    const about = (setup: string, ...sessions: readonly string[][]) =>
      [
        ...answers(
          {
            name: 'x',
            setup: [setup],
            sessions: sessions.map((statements, s) => ({ name: `T${s}`, statements })),
          },
          'postgres',
        ),
      ].sort();
    const table = 'CREATE TABLE t (k SERIAL PRIMARY KEY, u INT UNIQUE)';
    expect(
      about(table, ['INSERT INTO t (k, u) VALUES (1, 1)'], ['INSERT INTO t (k, u) VALUES (1, 2)']),
    ).toEqual(['the same key inserted by two sessions']);
    expect(
      about(table, ['INSERT INTO t (k, u) VALUES (1, 1)', 'INSERT INTO t (k, u) VALUES (1, 2)']),
    ).toEqual([]);
    expect(about(table, ['INSERT INTO t (u) VALUES (7)'], ['UPDATE t SET u = 7 WHERE k = 1'])).toEqual([
      'a key left to the database',
      'the same unique value written by two sessions',
    ]);
    expect(
      about('CREATE TABLE t (k INTEGER PRIMARY KEY)', [
        'INSERT INTO t (k) VALUES (1) ON CONFLICT DO NOTHING',
      ]),
    ).toEqual(['INSERT if absent', 'INTEGER PRIMARY KEY']);
  });
});
