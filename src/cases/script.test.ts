import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileError } from '../errors.js';
import { anyScheduledCase } from './arbitrary.case.js';
import { parseScript, printScript } from './script.js';

const parse = (text: string) => parseScript(text, { file: 'dir/some.case.sql' });

/** Sessions and statements in the order they are sent; batches joined by a bar. */
function story(text: string): string[] {
  const { case: program, schedule } = parse(text);
  return schedule!.batches.map((batch) =>
    batch.map(([s, p]) => `${program.sessions[s]!.name}: ${program.sessions[s]!.statements[p]}`).join(' | '),
  );
}

describe('scripts', () => {
  it('print and parse are inverse', () => {
    fc.assert(
      fc.property(anyScheduledCase, (scheduled) => {
        expect(parse(printScript(scheduled))).toEqual(scheduled);
      }),
      { numRuns: 500 },
    );
  });

  it('with sessions in comments are read back, and by any client of SQL', () => {
    fc.assert(
      fc.property(anyScheduledCase, (scheduled) => {
        expect(parse(printScript(scheduled, { inComments: true }))).toEqual(scheduled);
      }),
      { numRuns: 300 },
    );
    const own = parse('CREATE TABLE t (a INT);\nT1: BEGIN\nT2: SELECT 1\n| T1: COMMIT\n');
    const text = printScript(own, { inComments: true });
    expect(text).toContain('\n/* T1 */ BEGIN;\n/* T2 */ SELECT 1;\n/* | T1 */ COMMIT;\n');
    expect(text).not.toMatch(/^T\d:/m);
  });

  it('read the same with CRLF line ends', () => {
    const text =
      '-- name: x\n-- level T2: serializable\nCREATE TABLE t (a INT);\n\nT1: BEGIN\nT2: SELECT 1\n';
    expect(parse(text.replaceAll('\n', '\r\n'))).toEqual(parse(text));
  });

  it('read a case written by hand', () => {
    const scheduled = parse(`
-- name: lost update
-- description: two increments,
-- description: one survives
-- dialect: mysql
-- level: RR
-- level T2: read-committed
CREATE TABLE t (id INT PRIMARY KEY, v INT); -- the table
INSERT INTO t VALUES (1, 10);

T1: BEGIN; SELECT v FROM t
    WHERE id = 1;
T2: BEGIN
-- a remark
T1: UPDATE t SET v = 11 WHERE id = 1
| T2: UPDATE t SET v = 'T1: \\'x;'
T1: COMMIT`);
    expect(scheduled).toEqual({
      case: {
        name: 'lost update',
        description: 'two increments,\none survives',
        dialect: 'mysql',
        level: 'repeatable read',
        setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'],
        sessions: [
          {
            name: 'T1',
            statements: [
              'BEGIN',
              'SELECT v FROM t WHERE id = 1',
              'UPDATE t SET v = 11 WHERE id = 1',
              'COMMIT',
            ],
          },
          { name: 'T2', level: 'read committed', statements: ['BEGIN', "UPDATE t SET v = 'T1: \\'x;'"] },
        ],
      },
      schedule: {
        batches: [
          [[0, 0]],
          [[0, 1]],
          [[1, 0]],
          [
            [0, 2],
            [1, 1],
          ],
          [[0, 3]],
        ],
      },
    });
  });

  it('take the name from the file, and any word as a session', () => {
    expect(parse('writer: BEGIN\nreader: SELECT 1').case.name).toBe('some.case');
    expect(story('writer: BEGIN\nreader: SELECT 1')).toEqual(['writer: BEGIN', 'reader: SELECT 1']);
  });

  it('send what is no SQL at all, for the database to judge', () => {
    expect(story('CREATE TABLE t (a INT);\nT1: SELCT 1\nT2: COMMIT')).toEqual(['T1: SELCT 1', 'T2: COMMIT']);
  });

  it('keep procedures whole between delimiters', () => {
    const { case: program } = parse(
      '-- isolde script\nDELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END//\nDELIMITER ;\nT1: CALL p()',
    );
    expect(program.setup).toEqual(['CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END']);
    expect(program.sessions).toEqual([{ name: 'T1', statements: ['CALL p()'] }]);
  });

  it.each([
    ['-- level: high\nT1: BEGIN', 1, 'unknown level "high"'],
    ['-- name: x\n-- dialect: oracle\nT1: BEGIN', 2, 'unknown dialect "oracle"'],
    ["-- name: x\nT1: BEGIN\nT1: SELECT 'abc", 3, 'the quote that begins here never ends'],
    ['-- isolde script\n/* T1: BEGIN', 2, 'the comment that begins here never ends'],
    ['-- name: x\nT1: BEGIN\n| T1: COMMIT', 3, 'cannot send two statements at once'],
    ['-- isolde script\nDELIMITER //\nT1: BEGIN', 3, 'does not end with the delimiter'],
  ])('say where %j is wrong', (text, line, problem) => {
    expect(() => parse(text)).toThrow(FileError);
    expect(() => parse(text)).toThrow(`dir/some.case.sql:${line}`);
    expect(() => parse(text)).toThrow(problem);
  });

  it('say what is accepted when there is no session', () => {
    expect(() => parse('SELECT 1;')).toThrow(/^dir\/some\.case\.sql: no session found; .*T1: BEGIN.*mtr/);
    expect(() => parse('')).toThrow('no session found');
  });

  it('complain about a level for a session that is not there', () => {
    expect(() => parse('-- level T9: RR\nT1: BEGIN')).toThrow('there is no session T9; sessions are T1');
  });

  it('never fail otherwise than with a file error', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'T1: BEGIN',
        'connection c1;',
        'session s1',
        'step a { BEGIN; }',
        '1-2-1',
        'statement ok con1',
      ),
      fc.constantFrom(
        '-- session 1',
        '/* t1 */ BEGIN;',
        '| s1 | s2 |',
        "it's",
        'T1> commit',
        '-- level x: y',
        '`',
        '"',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        try {
          parse(lines.join('\n'));
        } catch (thrown) {
          if (!(thrown instanceof FileError)) throw thrown;
        }
      }),
      { numRuns: 500 },
    );
  });
});
