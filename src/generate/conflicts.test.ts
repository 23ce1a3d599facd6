import { describe, expect, it } from 'vitest';
import { type Case, type Schedule, scheduleProblem } from '../cases/index.js';
import { findCapabilities } from './capabilities.js';
import { conflictSchedule, conflictSchedules } from './conflicts.js';
import { generateCase } from './generate-case.js';
import { profiles } from './profile.js';
import { Random } from './random.js';
import { randomSchedule } from './schedules.js';

function program(...sessions: readonly (readonly string[])[]): Case {
  const setup = ['CREATE TABLE t (id INT, v INT)', 'CREATE TABLE u (id INT, v INT)'];
  return { name: 'x', setup, sessions: sessions.map((statements, s) => ({ name: `T${s + 1}`, statements })) };
}

/** `T1: BEGIN` … as text, to compare orders. */
function story(of: Case, { batches }: Schedule): string[] {
  return batches.flatMap((batch) => batch.map(([s, p]) => `${s + 1} ${of.sessions[s]!.statements[p]!}`));
}

const update = (id: number, table = 't') => `UPDATE ${table} SET v = 1 WHERE id = ${id}`;

describe('conflictSchedules', () => {
  it('enumerates every order of two transactions that write the same row', () => {
    const two = program(['BEGIN', update(1), 'COMMIT'], ['BEGIN', update(1), 'COMMIT']);
    const stories = [...conflictSchedules(two, { orders: 100 })].map((each) => story(two, each).join('; '));
    expect(stories).toHaveLength(20);
    expect(new Set(stories).size).toBe(20);
  });

  it('leaves the two serial orders out when asked to', () => {
    const two = program(['BEGIN', update(1), 'COMMIT'], ['BEGIN', update(1), 'COMMIT']);
    const all = [...conflictSchedules(two, { orders: 100, serial: false })];
    expect(all).toHaveLength(18);
    const sessions = all.map((each) =>
      story(two, each)
        .map((line) => line[0])
        .join(''),
    );
    expect(sessions).not.toContain('111222');
    expect(sessions).not.toContain('222111');
  });

  it('does not multiply orders by statements that do not conflict', () => {
    const idle = 'SELECT * FROM u';
    const two = program(['BEGIN', idle, idle, update(1), 'COMMIT'], ['BEGIN', update(1), idle, 'COMMIT']);
    expect([...conflictSchedules(two, { orders: 1000 })]).toHaveLength(20);
  });

  it('finds no conflict between "T" and t in PostgreSQL, but one in DuckDB', () => {
    const two = program(['BEGIN', update(1), 'COMMIT'], ['BEGIN', update(1, '"T"'), 'COMMIT']);
    expect([...conflictSchedules({ ...two, dialect: 'postgres' })]).toEqual([]);
    expect([...conflictSchedules({ ...two, dialect: 'duckdb' })]).not.toEqual([]);
  });

  it('aims at the pair that conflicts most', () => {
    const three = program(
      ['BEGIN', 'SELECT * FROM u', 'COMMIT'],
      ['BEGIN', update(1), update(2), 'COMMIT'],
      ['BEGIN', update(2), update(1), 'COMMIT'],
    );
    for (const each of conflictSchedules(three, { pairs: 1 })) {
      expect(
        story(three, each)
          .slice(-3)
          .map((line) => line[0]),
      ).toEqual(['1', '1', '1']);
    }
  });

  it('lets a statement outside transactions meet a transaction, and no other such statement', () => {
    const two = program(['BEGIN', update(1), 'COMMIT'], ['SET x = 1', update(1)]);
    const all = [...conflictSchedules(two, { serial: false })].map((each) => story(two, each));
    expect(all.map((told) => told.indexOf(`2 ${update(1)}`))).toEqual([3, 2]);
    expect([...conflictSchedules(program([update(1)], [update(1)]))]).toEqual([]);
  });

  it('runs what comes before the pair first, and what comes after behind', () => {
    const two = program(
      ['INSERT INTO u (id) VALUES (1)', 'BEGIN', update(1), 'COMMIT', 'SELECT * FROM u'],
      ['BEGIN', update(1), 'COMMIT'],
    );
    for (const each of conflictSchedules(two)) {
      const told = story(two, each);
      expect(told[0]).toBe('1 INSERT INTO u (id) VALUES (1)');
      expect(told.at(-1)).toBe('1 SELECT * FROM u');
    }
  });

  it('finds nothing where nothing conflicts', () => {
    const reads = program(['BEGIN', 'SELECT * FROM t', 'COMMIT'], ['BEGIN', 'SELECT * FROM t', 'COMMIT']);
    const rows = program(['BEGIN', update(1), 'COMMIT'], ['BEGIN', update(2), 'COMMIT']);
    const tables = program(['BEGIN', update(1), 'COMMIT'], ['BEGIN', update(1, 'u'), 'COMMIT']);
    for (const each of [reads, rows, tables]) {
      expect([...conflictSchedules(each)]).toEqual([]);
      expect(conflictSchedule(each, new Random('x'))).toBeUndefined();
    }
  });

  it('takes a locking read for a write, and an unknown statement for everything', () => {
    const locks = program(
      ['BEGIN', 'SELECT * FROM t FOR UPDATE', 'COMMIT'],
      ['BEGIN', 'SELECT * FROM t', 'COMMIT'],
    );
    const unknown = program(['BEGIN', 'TRUNCATE TABLE t', 'COMMIT'], ['BEGIN', 'SELECT * FROM t', 'COMMIT']);
    for (const each of [locks, unknown]) expect([...conflictSchedules(each)]).not.toEqual([]);
  });

  it('spreads a bounded choice over all orders', () => {
    const long = ['BEGIN', ...Array.from({ length: 10 }, () => update(1)), 'COMMIT'];
    const two = program(long, long);
    const stories = [...conflictSchedules(two, { orders: 50 })].map((each) => story(two, each));
    expect(new Set(stories.map((each) => each.join())).size).toBe(50);
    expect(stories.filter((each) => each[0]!.startsWith('2')).length).toBeGreaterThan(15);
  });

  it('never draws one of the two serial orders of a pair', () => {
    const two = program(['BEGIN', update(1), 'COMMIT'], ['BEGIN', update(1), 'COMMIT']);
    for (let seed = 0; seed < 200; seed++) {
      const sessions = story(two, conflictSchedule(two, new Random(String(seed)))!)
        .map((line) => line[0])
        .join('');
      expect(['111222', '222111']).not.toContain(sessions);
    }
  });

  it('gives valid schedules for generated cases of every profile', () => {
    for (const profile of profiles) {
      for (let seed = 0; seed < 5; seed++) {
        const generated = generateCase(String(seed), { capabilities: findCapabilities('mariadb')!, profile });
        for (const each of conflictSchedules(generated, { orders: 10 })) {
          expect(scheduleProblem(generated, each)).toBeUndefined();
        }
        expect(scheduleProblem(generated, randomSchedule(generated, new Random('r')))).toBeUndefined();
      }
    }
  });
});

describe('randomSchedule', () => {
  it('gives every order the same chance', () => {
    const two = program(['BEGIN', 'COMMIT'], ['BEGIN', 'COMMIT']);
    const random = new Random('orders');
    const counts = new Map<string, number>();
    for (let i = 0; i < 6_000; i++) {
      const key = story(two, randomSchedule(two, random)).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
