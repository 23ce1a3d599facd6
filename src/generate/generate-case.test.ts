import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Case, countStatements, printScript, scheduleProblem, transactionsOf } from '../cases/index.js';
import { parseStatement, printStatement } from '../sql/index.js';
import { findCapabilities, knownTargets } from './capabilities.js';
import { type GenerateOptions, generate, generateCase } from './generate-case.js';
import { makeProfile, profiles } from './profile.js';

const capabilities = findCapabilities('duckdb')!;
const anyProfile = fc.constantFrom(...profiles.map(({ name }) => name));
const anyTarget = fc.constantFrom(...knownTargets);
const anySeed = fc.integer({ min: 0, max: 1e6 }).map(String);

function statementsOf(program: Case): string[] {
  return [...program.setup, ...program.sessions.flatMap(({ statements }) => statements)];
}

describe('generate', () => {
  it('gives the same bytes for the same seed', () => {
    fc.assert(
      fc.property(anySeed, anyProfile, anyTarget, (seed, profile, target) => {
        const options: GenerateOptions = {
          capabilities: findCapabilities(target)!,
          profile,
          interleaving: 'conflict',
        };
        expect(JSON.stringify(generate(seed, options))).toBe(JSON.stringify(generate(seed, options)));
      }),
      { numRuns: 40 },
    );
  });

  it('gives the case a seed has always given', () => {
    const { case: program, schedule } = generate('7', { capabilities, interleaving: 'random' });
    expect(printScript({ case: program, schedule: schedule! })).toMatchSnapshot();
  });

  it('gives different cases for different seeds', () => {
    const texts = Array.from({ length: 100 }, (_, seed) =>
      JSON.stringify(generateCase(String(seed), { capabilities }).setup),
    );
    expect(new Set(texts).size).toBeGreaterThan(98);
  });

  it('writes only SQL that reads back as the tree it was', () => {
    fc.assert(
      fc.property(anySeed, anyProfile, anyTarget, (seed, profile, target) => {
        const { dialect } = findCapabilities(target)!;
        const program = generateCase(seed, { capabilities: findCapabilities(target)!, profile });
        for (const sql of statementsOf(program)) {
          // A sequence and a setting have no tree: nobody needs more of them than their kind.
          if (/^(CREATE SEQUENCE|SET (enable|optimizer))/.test(sql)) continue;
          const tree = parseStatement(sql, dialect);
          expect(tree.type, sql).not.toBe('opaque');
          expect(printStatement(tree, dialect)).toBe(sql);
        }
      }),
      { numRuns: 80 },
    );
  });

  it('keeps the spelling of the table an index is dropped from', () => {
    const profile = makeProfile('drops', '', {
      tables: [3, 3],
      weights: { 'begin.autocommit': 1000, 'statement.index': 1000 },
    });
    const capabilities = findCapabilities('mariadb')!;
    const drops = Array.from({ length: 5 }, (_, i) => generateCase(`drop${i}`, { capabilities, profile }))
      .flatMap(statementsOf)
      .filter((sql) => sql.startsWith('DROP INDEX'));
    expect(drops.length).toBeGreaterThan(3);
    for (const sql of drops) expect(printStatement(parseStatement(sql, 'mysql'), 'mysql')).toBe(sql);
  });

  it('has the sizes asked for', () => {
    fc.assert(
      fc.property(
        anySeed,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 6 }),
        (seed, sessions, transactions, statements) => {
          const sizes = { sessions, transactions, statements };
          const program = generateCase(seed, { capabilities, profile: 'read-mostly', ...sizes });
          expect(program.sessions).toHaveLength(sessions);
          for (let s = 0; s < sessions; s++) {
            const spans = transactionsOf(program, s);
            const explicit = spans.filter((span) => span.explicit);
            const loose = spans.length - explicit.length;
            // Autocommitted statements stand for a transaction each `statements` of them.
            expect(explicit.length + loose / statements).toBe(transactions);
            for (const { first, last, end } of explicit) {
              expect(last - first - 1).toBeLessThanOrEqual(statements);
              expect(end).not.toBe('open');
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('makes schedules that fit', () => {
    fc.assert(
      fc.property(
        anySeed,
        anyProfile,
        fc.constantFrom('random', 'conflict'),
        (seed, profile, interleaving) => {
          const generated = generate(seed, { capabilities, profile, interleaving: interleaving as 'random' });
          expect(scheduleProblem(generated.case, generated.schedule!)).toBeUndefined();
          expect(scheduleProblem(generated.case, generated.serial)).toBeUndefined();
        },
      ),
      { numRuns: 40 },
    );
  });

  it('gives every inserted row a rid of its own, and never updates it', () => {
    fc.assert(
      fc.property(anySeed, anyProfile, (seed, profile) => {
        const rids = new Map<string, Set<unknown>>();
        for (const sql of statementsOf(generateCase(seed, { capabilities, profile, transactions: 4 }))) {
          const tree = parseStatement(sql, 'duckdb');
          if (tree.type === 'update') expect(tree.set.flatMap(({ columns }) => columns)).not.toContain('rid');
          if (tree.type !== 'insert' || tree.source.type !== 'values') continue;
          expect(tree.columns?.[0]).toBe('rid');
          const seen = rids.get(tree.table.name) ?? new Set();
          rids.set(tree.table.name, seen);
          for (const [first] of tree.source.rows) {
            const rid = first?.type === 'literal' ? first.value : undefined;
            expect(typeof rid).toBe('number');
            expect(seen.has(rid), sql).toBe(false);
            seen.add(rid);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('puts no constraint and no index on rid unless asked', () => {
    for (let seed = 0; seed < 30; seed++) {
      for (const sql of generateCase(String(seed), { capabilities }).setup) {
        const tree = parseStatement(sql, 'duckdb');
        if (tree.type === 'create-table')
          expect(tree.columns[0]).toEqual({ name: 'rid', columnType: 'INT', constraints: [] });
        if (tree.type === 'create-index') expect(sql).not.toContain('rid');
      }
    }
  });

  it('never writes a value twice into the column of unique values', () => {
    for (const profile of ['simple', 'contention']) {
      for (let seed = 0; seed < 20; seed++) {
        const written: string[] = [];
        for (const sql of statementsOf(
          generateCase(String(seed), { capabilities, profile, transactions: 5 }),
        )) {
          const tree = parseStatement(sql, 'duckdb');
          const value = (of: unknown) => written.push(JSON.stringify(of));
          if (tree.type === 'update') {
            for (const each of tree.set) if (each.columns[0] === 'v') value(each.value);
          } else if (tree.type === 'insert' && tree.source.type === 'values') {
            const at = tree.columns!.indexOf('v');
            for (const row of tree.source.rows) value(row[at]);
          }
        }
        expect(new Set(written).size, `${profile} ${seed}`).toBe(written.length);
        expect(written.length).toBeGreaterThan(0);
      }
    }
  });

  it('names one row in every write of the simple profile, and shows whole rows in every read', () => {
    for (let seed = 0; seed < 30; seed++) {
      const program = generateCase(String(seed), { capabilities, profile: 'simple' });
      for (const sql of program.sessions.flatMap(({ statements }) => statements)) {
        if (/^(UPDATE|DELETE)/.test(sql)) expect(sql).toMatch(/ WHERE (rid|c0) = \S+( AND c1 = \S+)?$/);
        if (sql.startsWith('SELECT')) expect(sql).toMatch(/^SELECT \* FROM t\d( WHERE [^()]+)?$/);
      }
    }
  });

  it('makes a case of 20,000 operations in less than a second', () => {
    const size = { sessions: 8, transactions: 210, statements: 10 };
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 6 && best >= 1_000; attempt++) {
      // Processor time: other processes may share this machine.
      const before = process.cpuUsage();
      const program = generateCase(`big${attempt}`, { capabilities, ...size });
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, (user + system) / 1000);
      expect(countStatements(program)).toBeGreaterThan(19_000);
    }
    expect(best).toBeLessThan(1_000);
  });

  it('says what is wrong with sizes and profiles', () => {
    expect(() => generateCase('1', { capabilities, sessions: 0 })).toThrow('at least 1 of sessions, not 0');
    expect(() => generateCase('1', { capabilities, statements: 1.5 })).toThrow(
      'at least 1 of statements, not 1.5',
    );
    expect(() => generateCase('1', { capabilities, profile: 'wild' })).toThrow(
      'no profile "wild"; there are mixed',
    );
  });
});
