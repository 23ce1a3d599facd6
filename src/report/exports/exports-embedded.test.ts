import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript } from '../../cases/index.js';
import { runScheduled } from '../../execute/index.js';
import { probeCases } from '../../probe/index.js';
import { openTarget, type Scratch, type Target } from '../../targets/index.js';
import type { Bug } from '../bug.js';
import { sameAnswers } from '../evidence.js';
import { findBug, findGraphBug } from '../found-bug.case.js';
import { exportForms } from './index.js';
import {
  answersOf,
  caseInForm,
  exported,
  nastyCase,
  nastyTexts,
  recordRun,
  runNodeScript,
} from './run-export.case.js';

let target: Target;
let scratch: Scratch;
let bug: Bug;

beforeAll(async () => {
  target = await openTarget('duckdb:');
  scratch = await target.createScratch();
  const text = await readFile('examples/scripts/duckdb-17223.sql', 'utf8');
  const scheduled = parseScript(text, { file: 'duckdb-17223.sql', dialect: 'duckdb' });
  bug = await findBug({ target, scratch, scheduled, kind: 'update-of-changed-row' });
});
afterAll(() => target.close());

describe('exports of DuckDB #17223', () => {
  it('the script runs and shows the bug again', async () => {
    const again = parseScript(exported(bug, 'repro.sql'), { file: 'repro.sql' });
    expect(again.case.sessions).toEqual(bug.case.sessions);
    expect(again.schedule?.batches).toEqual(bug.schedule.batches);
    const history = await runScheduled(scratch, again, { target });
    expect(sameAnswers(bug, history)).toBe(true);
  });

  it('the stand-alone script exits with 1 and says so', async () => {
    const { code, out, err } = await runNodeScript(bug);
    expect(err).toBe('');
    expect(out).toContain('The bug shows');
    expect(code).toBe(1);
  });

  it('the stand-alone script exits with 0 on an engine that answers otherwise', async () => {
    const mended: Bug = {
      ...bug,
      history: {
        ...bug.history,
        operations: bug.history.operations.map((operation) =>
          operation.kind === 'update' ? { ...operation, matched: 0 } : operation,
        ),
      },
    };
    const { code, out } = await runNodeScript(mended);
    expect(out).toContain('The bug does not show');
    expect(out).toContain('Differs: T2: UPDATE');
    expect(code).toBe(0);
  });

  it('the stand-alone script does not take equal answers for a bug that only row versions show', async () => {
    const skew = probeCases.find(({ id }) => id === 'write-skew')!;
    const seen = await findGraphBug(target, skew, { contract: 'adya:PL-3' });
    // Both transactions missed what the other wrote, which their reads show.
    expect((await runNodeScript(seen)).code).toBe(1);
    const cycle = seen.finding.cycle!.map((edge) => ({ ...edge, kind: 'ww' as const }));
    const { code, out } = await runNodeScript({ ...seen, finding: { ...seen.finding, cycle } });
    expect(out).toContain('isolde bugs rerun decides');
    expect(code).toBe(125);
  });

  it('the stand-alone script exits with 125 when the set-up fails', async () => {
    const broken: Bug = { ...bug, case: { ...bug.case, setup: ['CREATE TABEL t (id INT)'] } };
    const { code, err } = await runNodeScript(broken);
    expect(err).toContain('could not be run');
    expect(code).toBe(125);
  });

  it('the SQL in the bug form runs and shows the bug again', async () => {
    const history = await runScheduled(scratch, caseInForm(bug), { target });
    expect(answersOf(history)).toEqual(answersOf(bug.history));
  });

  it('the bug form asks what DuckDB asks', () => {
    const form = exported(bug, 'bug-report.md');
    for (const title of ['What happens?', 'To Reproduce', 'OS', 'DuckDB Version', 'DuckDB Client'])
      expect(form).toContain(`### ${title}`);
    expect(form).toContain('/* T2 */ UPDATE t SET v = 55 WHERE id = 1;');
    expect(form).not.toContain('firstUpdaterWins');
    const links = [...form.matchAll(/https:[^\s>]+/g)].map(([url]) => url);
    expect(links.length).toBeGreaterThan(0);
    expect(new Set(links).size).toBe(links.length);
  });

  it('the bug form of an injected fault says so', () => {
    const { target } = bug;
    const faulty = { ...bug, target: { ...target, settings: { ...target.settings, fault: 'dirty-read' } } };
    expect(exported(faulty, 'bug-report.md')).toMatch(
      /no bug of the engine: Isolde injected the fault dirty\\?-read/,
    );
    expect(exported(bug, 'bug-report.md')).not.toContain('injected');
  });

  it('forms of other engines say why they do not fit', () => {
    const reasons = exportForms.flatMap((form) => form.unfit(bug) ?? []);
    expect(reasons).toEqual([
      'its own statements show it',
      'isolationtester is PostgreSQL’s',
      'mtr is MySQL’s and MariaDB’s',
    ]);
  });

  it('values of every type survive the way through the script', async () => {
    const text = `CREATE TABLE v (id INT, b BIGINT, d DECIMAL(9,3), f DOUBLE, t TEXT, o BOOLEAN, k BLOB, w DATE, z TIMESTAMP);
      INSERT INTO v VALUES (1, 9007199254740993, 1.100, 1e20, 'it''s <b> 🦆
      "two" \\ lines', true, '\\x00\\xff'::BLOB, '2024-02-29', '2024-02-29 13:45:00.5'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      T1: SELECT * FROM v;`;
    const recorded = await recordRun(
      target,
      scratch,
      parseScript(text, { file: 'values', dialect: 'duckdb' }),
    );
    const { code, out } = await runNodeScript(recorded);
    expect(out).toContain('The bug shows');
    expect(code).toBe(1);
  });
});

describe.each(['sqlite:', 'turso:', 'turso:?mode=mvcc'])('the stand-alone script of %s', (url) => {
  it('gives the answers that were recorded, conflicts included', async () => {
    const other = await openTarget(url);
    const where = await other.createScratch();
    try {
      for (const id of ['lost-update', 'own-write', 'write-skew']) {
        const recorded = await recordRun(other, where, probeCases.find((each) => each.id === id)!);
        const { code, out, err } = await runNodeScript(recorded);
        expect({ id, err, shows: out.includes('The bug shows') }, out).toEqual({ id, err: '', shows: true });
        expect(code).toBe(1);
      }
    } finally {
      await other.close();
    }
  });
});

describe.each(['duckdb:', 'sqlite:', 'turso:'])('nasty texts in %s', (url) => {
  it('come back as they were through the script and through Node', async () => {
    const other = await openTarget(url);
    const where = await other.createScratch();
    try {
      const lines = [...nastyTexts, 'line one\nline two\r\n\ttabbed; and on', '} { ]]> <!--'];
      const recorded = await recordRun(other, where, nastyCase(other.dialect, lines));
      const again = parseScript(exported(recorded, 'repro.sql'), {
        file: 'repro.sql',
        dialect: other.dialect,
      });
      const history = await runScheduled(where, again, { target: other });
      expect(history.operations.flatMap(({ rows = [] }) => rows)).toEqual(
        [nastyTexts[0], nastyTexts[0], ...lines.slice(2)].map((text, id) => [id, text]),
      );
      const { code, out, err } = await runNodeScript(recorded);
      expect({ code, err }, out).toEqual({ code: 1, err: '' });
    } finally {
      await other.close();
    }
  });
});
