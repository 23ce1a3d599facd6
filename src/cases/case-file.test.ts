import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileError } from '../errors.js';
import { anyScheduledCase } from './arbitrary.case.js';
import { parseCaseFile, printCaseFile } from './case-file.js';

const good = {
  format: 'isolde-case',
  version: 1,
  name: 'x',
  setup: ['CREATE TABLE t (a INT)'],
  sessions: [
    { name: 'T1', statements: ['BEGIN', 'COMMIT'] },
    { name: 'T2', statements: ['SELECT 1'] },
  ],
};

function problemOf(text: string): FileError {
  try {
    parseCaseFile(text, 'f.case.json');
  } catch (thrown) {
    if (thrown instanceof FileError) return thrown;
    throw thrown;
  }
  throw new Error('it was accepted');
}

const complaint = (change: object) => problemOf(JSON.stringify({ ...good, ...change }, null, 1));

describe('case files', () => {
  it('print and parse are inverse', () => {
    fc.assert(
      fc.property(anyScheduledCase, (scheduled) => {
        expect(parseCaseFile(printCaseFile(scheduled), 'f')).toEqual(scheduled);
      }),
    );
  });

  it('keep the reasons of a schedule, what is cancelled, and that deleted rows are kept', () => {
    const scheduled = parseCaseFile(JSON.stringify(good), 'f');
    const schedule = {
      batches: [
        [[0, 0]],
        [
          [0, 1],
          [1, 0],
        ],
      ] as const,
      reasons: [{ before: [0, 0] as const, after: [1, 0] as const, why: 'T2 must see it' }],
      cancelled: [[0, 0] as const],
      keepsHistory: true as const,
    };
    const full = { ...scheduled, schedule };
    expect(parseCaseFile(printCaseFile(full), 'f')).toEqual(full);
    const odd = printCaseFile(full).replace('"keepsHistory": true', '"keepsHistory": false');
    expect(problemOf(odd).message).toContain('expected true');
  });

  it('normalise the SQL they are given', () => {
    const text = JSON.stringify({ ...good, setup: ['  SELECT\n 1 ; -- note'] });
    expect(parseCaseFile(text, 'f').case.setup).toEqual(['SELECT 1']);
  });

  it('name the line of a syntax error', () => {
    expect(problemOf('{\n  "format": "isolde-case",\n  oops\n}').message).toBe(
      'f.case.json:3: this is not JSON: expected a name in double quotes, found "o"',
    );
    expect(problemOf('').place.line).toBe(1);
    expect(problemOf('[1,\n2').message).toContain(':2: this is not JSON: expected "," or "]"');
    expect(problemOf(`${'['.repeat(100_000)}x`).message).toContain('nested too deeply');
  });

  it('name file, line and field of a bad value', () => {
    const wrong = complaint({ sessions: [{ name: 'T1', statements: ['BEGIN', 7] }] });
    expect(wrong.message).toBe('f.case.json:13 (sessions[0].statements[1]): expected text, found 7');
  });

  it.each([
    [{ format: 'other' }, 'format', 'expected "format": "isolde-case", found "other"'],
    [{ version: 2 }, 'version', 'newer than this Isolde reads'],
    [{ version: 0 }, 'version', 'does not exist'],
    [{ naem: 'x' }, 'naem', 'unknown field naem; known are format, version, name'],
    [{ name: undefined }, 'name', 'expected text, found nothing'],
    [{ level: 'rr' }, 'level', 'expected one of read uncommitted'],
    [{ dialect: 'oracle' }, 'dialect', 'expected one of postgres'],
    [{ setup: [' ; '] }, 'setup[0]', 'expected a statement'],
    [{ sessions: [good.sessions[0], good.sessions[0]] }, 'sessions[1].name', 'two sessions are named "T1"'],
    [{ schedule: { batches: [[[0, 1]]] } }, 'schedule.batches', 'where statement 0 is next'],
    [{ schedule: { batches: [[[0]]] } }, 'schedule.batches[0][0]', 'expected [session, position]'],
    [{ schedule: { batches: [[[-1, 0]]] } }, 'schedule.batches[0][0][0]', 'expected an integer'],
  ])('refuse %j', (change, field, problem) => {
    const error = complaint(change);
    expect(error.place.field).toBe(field);
    expect(error.place.line).toBeGreaterThan(0);
    expect(error.problem).toContain(problem);
  });

  it('never fail otherwise than with a file error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(problemOf(text)).toBeInstanceOf(FileError);
      }),
    );
  });
});
