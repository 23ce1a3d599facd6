/** The allow-list for SQL of others: no attack passes, and everything Isolde writes itself does. */
import { describe, expect, it } from 'vitest';
import { findCapabilities, generateCase, knownTargets, profiles } from '../src/generate/index.js';
import { probeCases } from '../src/probe/index.js';
import { type Dialect, findForbidden } from '../src/sql/index.js';
import { attacks } from '../src/targets/attacks/attacks.case.js';
import { jdbcAttacks } from '../src/targets/attacks/jdbc-attacks.case.js';
import { targetDeclarations } from '../src/targets/index.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

describe('the allow-list', () => {
  it.each(dialects)('lets no attack pass that is written for %s', (dialect) => {
    const passing = attacks[dialect].filter(({ sql }) => findForbidden(sql, dialect) === undefined);
    expect(passing.map(({ sql }) => sql)).toEqual([]);
  });

  it.each(Object.keys(jdbcAttacks))('lets no attack pass that is written for %s', (engine) => {
    const dialect = targetDeclarations.find(({ name }) => name === engine)!.dialect;
    expect(jdbcAttacks[engine]!.length).toBeGreaterThan(40);
    // As a file that says its dialect, and as one that does not.
    for (const told of [dialect, undefined]) {
      const passing = jdbcAttacks[engine]!.filter(({ sql }) => findForbidden(sql, told) === undefined);
      expect(passing.map(({ sql }) => sql)).toEqual([]);
    }
  });

  it('lets everything pass that is generated', () => {
    const refused = new Map<string, string>();
    for (const target of knownTargets) {
      for (const { name: profile } of profiles) {
        for (let seed = 0; seed < 4; seed++) {
          const made = generateCase(`fence${seed}`, { capabilities: findCapabilities(target)!, profile });
          for (const sql of [...made.setup, ...made.sessions.flatMap(({ statements }) => statements)]) {
            const why = findForbidden(sql, made.dialect);
            if (why !== undefined) refused.set(why, `${target} ${profile}: ${sql}`);
          }
        }
      }
    }
    expect([...refused]).toEqual([]);
  });

  it.each(dialects)('lets every case of the probe pass in %s', (dialect) => {
    for (const { case: program } of probeCases) {
      for (const sql of [...program.setup, ...program.sessions.flatMap(({ statements }) => statements)]) {
        expect(findForbidden(sql, dialect), sql).toBeUndefined();
      }
    }
  });

  it.each([
    ['SET TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'postgres'],
    ['SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', 'mysql'],
    ['SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'postgres'],
    ['SET autocommit = 0', 'mysql'],
    ['SET enable_seqscan = off', 'postgres'],
    ["SET optimizer_switch = 'materialization=off,semijoin=off'", 'mysql'],
    ['SET @@session.autocommit = OFF', 'mysql'],
    ['TRUNCATE TABLE t', 'postgres'],
    ["SELECT nextval('s')", 'postgres'],
    ['CREATE TABLE t (a INT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4', 'mysql'],
    ["CREATE TABLE t (a INT COMMENT 'x') COMMENT='y'", 'mysql'],
    ['SELECT /*+ NO_INDEX(t) */ a FROM t', 'mysql'],
    ['SELECT a FROM t FOR UPDATE SKIP LOCKED', 'postgres'],
    ['INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING', 'sqlite'],
  ] as const)('lets "%s" pass in %s', (sql, dialect) => {
    expect(findForbidden(sql, dialect)).toBeUndefined();
  });

  it('asks for all dialects when none is told', () => {
    expect(findForbidden('SELECT 1')).toBeUndefined();
    expect(findForbidden('SELECT a FROM `t`; DROP TABLE t')).toBeDefined();
    expect(findForbidden('SELECT 1\u202e')).toBe('it has invisible characters');
  });
});
