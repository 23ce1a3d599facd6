import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScript, printScript, scheduleProblem } from '../cases/index.js';
import { parseStatement } from '../sql/index.js';
import { generateFromTemplate } from './template.js';

const template = parseScript(
  `CREATE TABLE test (id INT PRIMARY KEY, value INT);
   INSERT INTO test (id, value) VALUES (1, 10), (2, 20);
   T1: BEGIN
   T2: BEGIN
   T1: SELECT id, value FROM test WHERE id = 1
   T2: UPDATE test SET value = 11 WHERE id = 1
   T2: INSERT INTO test (id, value) VALUES (3, 30)
   T2: COMMIT
   T1: UPDATE test SET value = value + 1 WHERE id = 1 AND value = 10
   T1: COMMIT`,
  { file: 'lost-update', dialect: 'postgres' },
);

const opaque = parseScript(
  `CREATE TABLE test (id INT PRIMARY KEY, value INT);
   INSERT INTO test (id, value) VALUES (1, 10);
   T1: LOCK TABLE test IN SHARE MODE
   T1: SELECT value FROM test WHERE id = 1`,
  { file: 'opaque', dialect: 'postgres' },
);

const anySeed = fc.integer({ min: 0, max: 1e6 }).map(String);
const anyDialect = fc.constantFrom('postgres', 'mysql', 'sqlite', 'duckdb');

describe('generateFromTemplate', () => {
  it('gives the same case for the same seed', () => {
    expect(generateFromTemplate('5', template)).toEqual(generateFromTemplate('5', template));
    expect(printScript(generateFromTemplate('5', template))).toMatchSnapshot();
  });

  it('changes nothing when it may change nothing', () => {
    const { case: program, schedule } = generateFromTemplate('1', template, { boldness: 0 });
    expect({ ...program, name: template.case.name, dialect: template.case.dialect }).toEqual(template.case);
    expect(schedule).toEqual(template.schedule);
  });

  it('makes many different cases, each with a schedule that fits and SQL that reads back', () => {
    const texts = new Set<string>();
    fc.assert(
      fc.property(
        anySeed,
        anyDialect,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seed, dialect, boldness) => {
          const made = generateFromTemplate(seed, template, { dialect, boldness });
          expect(scheduleProblem(made.case, made.schedule!)).toBeUndefined();
          for (const sql of [...made.case.setup, ...made.case.sessions.flatMap((each) => each.statements)]) {
            expect(parseStatement(sql, dialect).type, sql).not.toBe('opaque');
          }
          texts.add(printScript(made));
        },
      ),
      { numRuns: 100 },
    );
    expect(texts.size).toBeGreaterThan(60);
  });

  it('keeps the story: the sessions of the template send their statements in its order', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        const made = generateFromTemplate(seed, template, { boldness: 1 });
        const kinds = made.schedule!.batches.flatMap(([first]) => {
          const [session, position] = first!;
          const sql = made.case.sessions[session]!.statements[position]!;
          const ours = session < template.case.sessions.length && !sql.startsWith('SELECT COUNT(*)');
          return ours ? [`${session} ${sql.split(' ')[0]!.replace('ROLLBACK', 'COMMIT')}`] : [];
        });
        expect(kinds).toEqual([
          '0 BEGIN',
          '1 BEGIN',
          '0 SELECT',
          '1 UPDATE',
          '1 INSERT',
          '1 COMMIT',
          '0 UPDATE',
          '0 COMMIT',
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it('gives every row a rid of its own when it adds one', () => {
    let added = 0;
    for (let seed = 0; seed < 80; seed++) {
      const made = generateFromTemplate(String(seed), template, { boldness: 1 });
      const rids: unknown[] = [];
      for (const sql of [...made.case.setup, ...made.case.sessions.flatMap((each) => each.statements)]) {
        const tree = parseStatement(sql, 'postgres');
        if (tree.type !== 'insert' || tree.source.type !== 'values' || !tree.columns!.includes('rid'))
          continue;
        const at = tree.columns!.indexOf('rid');
        for (const row of tree.source.rows) rids.push(JSON.stringify(row[at]));
      }
      expect(new Set(rids).size).toBe(rids.length);
      if (rids.length > 0) added++;
    }
    expect(added).toBeGreaterThan(5);
  });

  it('keeps names where a statement cannot be read', () => {
    for (let seed = 0; seed < 30; seed++) {
      const { case: program } = generateFromTemplate(String(seed), opaque, { boldness: 1 });
      expect(program.sessions[0]!.statements).toContain('LOCK TABLE test IN SHARE MODE');
      expect(program.setup[0]).toBe('CREATE TABLE test (id INT PRIMARY KEY, value INT)');
    }
  });
});
