import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IsoldeError } from '../errors.js';
import { findBug } from '../report/found-bug.case.js';
import { openTarget } from '../targets/index.js';
import { affectedBy } from './affected.js';
import type { Place } from './cell.js';
import { compareSubjects } from './compare-subjects.js';
import { readJournal, writeJournal } from './journal.js';
import { bisectMatrix, type MatrixOptions, runMatrix } from './run-matrix.js';
import { bugSubject, caseOf, fileSubject, type Subject } from './subject.js';
import { affectedTable, matrixTable } from './table.js';

/** An engine with releases: DuckDB, with a fault that some of them have. 4.0 does not start. */
const faults: Readonly<Record<string, string>> = {
  '3.0': 'commit-on-rollback',
  '5.0': 'commit-on-rollback',
  '6.0': 'lost-insert',
};
const versions = ['1.0', '2.0', '3.0', '4.0', '5.0', '6.0', '7.0'];
const places: Place[] = versions.map((version) => ({
  url: `made@${version}:`,
  engine: 'made',
  version,
  settings: '',
}));
const opened: string[] = [];
const open: MatrixOptions['open'] = async (url) => {
  const version = /@(.*):/.exec(url)![1]!;
  opened.push(version);
  if (version === '4.0') throw new IsoldeError('engine-missing', 'it does not start');
  const fault = faults[version];
  return openTarget(fault === undefined ? 'duckdb:' : `duckdb:?fault=${fault}`);
};

const rollback = fileSubject(
  `-- isolde script
-- name: rollback
-- wrong: T2.1 rows (1, 11)
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10);
T1: BEGIN
T1: UPDATE t SET v = 11
T1: ROLLBACK
T2: SELECT id, v FROM t
`,
  'rollback.sql',
);
const judged = fileSubject(
  `CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10);
T1: BEGIN
T1: DELETE FROM t
T1: ROLLBACK
T2: SELECT id, v FROM t
`,
  'folder/judged.sql',
);
const foreign = fileSubject(
  '-- isolde script\n-- name: x\n-- dialect: postgres\nCREATE TABLE t (id INT);\nT1: SELECT id FROM t FOR UPDATE\n',
  'foreign.sql',
);
let stored: Subject;
const folder = mkdtempSync(join(tmpdir(), 'isolde-matrix-test-'));

beforeAll(async () => {
  const target = await openTarget('duckdb:?fault=commit-on-rollback');
  const scratch = await target.createScratch();
  stored = bugSubject(await findBug({ target, scratch, scheduled: caseOf(rollback) }));
  await target.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('runMatrix', () => {
  it('runs every case at every place, in parallel, and says what cannot be run and why', async () => {
    const subjects = [rollback, judged, foreign, stored];
    const cells = await runMatrix({ subjects, places }, { open, jobs: 3, runs: 2 });
    expect(cells).toHaveLength(subjects.length * places.length);
    const [head, ...rows] = matrixTable(cells);
    expect(head).toEqual(['', 'rollback', 'judged', 'foreign', stored.id]);
    expect(rows).toEqual([
      ['made 1.0', 'no', 'no', '–', 'no'],
      ['made 2.0', 'no', 'no', '–', 'no'],
      ['made 3.0', '2/2', '2/2', '–', '2/2'],
      ['made 4.0', '–', '–', '–', '–'],
      ['made 5.0', '2/2', '2/2', '–', '2/2'],
      ['made 6.0', 'no', 'no', '–', 'no'],
      ['made 7.0', 'no', 'no', '–', 'no'],
    ]);
    const why = (subject: string, version: string) =>
      cells.find((cell) => cell.subject === subject && cell.place.version === version)!.result.why;
    expect(why('rollback', '4.0')).toBe('it does not start');
    expect(why('foreign', '1.0')).toBe('its SQL is written for postgres, duckdb speaks duckdb');
    expect(affectedTable(affectedBy(cells)).slice(1)).toEqual([
      ['rollback', 'made', 'first bad 3.0 after 2.0, first good 6.0 after 5.0'],
      ['judged', 'made', 'first bad 3.0 after 2.0, first good 6.0 after 5.0'],
      [stored.id, 'made', 'first bad 3.0 after 2.0, first good 6.0 after 5.0'],
    ]);
    expect(compareSubjects(cells, 'rollback', stored.id)).toMatchObject({ verdict: 'one', leftOut: 1 });
  });

  it('a level that the target does not have cannot be run; one that it has can', async () => {
    const levels = ['snapshot', 'serializable'] as const;
    const cells = await runMatrix(
      { subjects: [rollback, stored], places: [places[2]!], levels },
      { open, runs: 1 },
    );
    expect(cells.map(({ result }) => [result.outcome, result.why])).toEqual([
      ['shows', expect.anything()],
      ['cannot-run', 'duckdb has no level serializable'],
      ['shows', expect.anything()],
      ['cannot-run', 'duckdb has no level serializable'],
    ]);
  });

  it('stops when it is told to, keeps what it has, and goes on from there', async () => {
    const journal = join(folder, 'matrix.jsonl');
    const controller = new AbortController();
    const writes: Promise<void>[] = [];
    const onCell: NonNullable<MatrixOptions['onCell']> = (cell, key, taken) => {
      if (!taken) writes.push(writeJournal(journal, key, cell));
      if (cell.place.version === '2.0') controller.abort();
    };
    const axes = { subjects: [rollback], places };
    const before = await runMatrix(axes, { open, runs: 1, onCell, signal: controller.signal });
    expect(before.map(({ place }) => place.version)).toEqual(['1.0', '2.0']);
    await Promise.all(writes);
    appendFileSync(journal, '{"key":"cut o');
    const problems: string[] = [];
    const taken = await readJournal(journal, (why) => problems.push(why));
    expect(problems).toHaveLength(1);
    opened.length = 0;
    const after = await runMatrix(axes, { open, runs: 1, taken });
    expect(after).toHaveLength(places.length);
    expect(opened).toEqual(['3.0', '4.0', '5.0', '6.0', '7.0']);
    // Another number of runs is another question.
    opened.length = 0;
    await runMatrix({ subjects: [rollback], places: [places[0]!] }, { open, runs: 2, taken });
    expect(opened).toEqual(['1.0']);
    expect(readFileSync(journal, 'utf8')).not.toContain('made@4.0');
  });
});

it('bisectMatrix finds first bad and first good with fewer places, together for all cases', async () => {
  opened.length = 0;
  const found = await bisectMatrix(
    {
      subjects: [rollback, stored],
      lines: [places],
      found: (subject) => (subject.kind === 'bug' ? 4 : undefined),
    },
    { open, runs: 1 },
  );
  for (const { interval } of found)
    expect(interval).toEqual({ firstBad: 2, lastBad: 4, goodBefore: 1, goodAfter: 5 });
  expect(new Set(opened.filter((version) => version !== '4.0')).size).toBeLessThanOrEqual(6);
});
