/** A bug that only row versions show: what its exports say on an engine that has it and on one that does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript, type ScheduledCase } from '../../cases/index.js';
import { runScheduled } from '../../execute/index.js';
import type { History } from '../../histories/index.js';
import { openTarget, type Target } from '../../targets/index.js';
import { sqliteAvailable } from '../../targets/sqlite/index.js';
import { type Bug, plainRun } from '../bug.js';
import { findGraphBug } from '../found-bug.case.js';
import { exportFiles } from './index.js';
import { exported, runNodeScript } from './run-export.case.js';

const missing = sqliteAvailable();

describe.skipIf(missing !== undefined)(
  `exports of a write that nobody misses (${missing ?? 'SQLite'})`,
  () => {
    let [faulty, mended]: readonly (Target | undefined)[] = [];
    let bug: Bug;

    beforeAll(async () => {
      [faulty, mended] = [await openTarget('sqlite:?fault=lost-update'), await openTarget('sqlite:')];
      const text = `
      CREATE TABLE t (id INT PRIMARY KEY, v INT);
      INSERT INTO t VALUES (1, 10);

      T1: UPDATE t SET v = 11
      T2: UPDATE t SET v = 12`;
      const scheduled = parseScript(text, { file: 'lost.sql', dialect: 'sqlite' });
      const found = await findGraphBug(faulty, scheduled, { contract: 'sqlite:serializable+wal' });
      const note = 'no run without added SQL shows it';
      bug = { ...found, secondLook: [{ by: plainRun, says: 'undecided', note }] };
    });
    afterAll(() => Promise.all([faulty?.close(), mended?.close()]));

    /** The lists of writers that the last session reads. */
    const lists = async (target: Target, scheduled: ScheduledCase): Promise<string> => {
      const history: History = await runScheduled(await target.createScratch(), scheduled, { target });
      const last = history.header.sessions.indexOf('lists');
      const rows = history.operations
        .filter(({ session }) => session === last)
        .flatMap(({ rows }) => rows ?? []);
      return JSON.stringify(rows);
    };

    it('the instrumented script shows whose write is gone', async () => {
      const again = parseScript(exported(bug, 'instrumented.sql'), { file: 'instrumented.sql' });
      expect(again.case.description).toContain('lost a write');
      const [kept, lost] = [await lists(mended!, again), await lists(faulty!, again)];
      for (const statement of [';1.1', ';2.1']) expect(kept).toContain(statement);
      expect(lost).not.toContain(';2.1');
    });

    it('there is no instrumented script where a plain run shows the bug', () => {
      const { secondLook: _, ...plain } = bug;
      expect(exportFiles(plain).map(({ name }) => name)).not.toContain('instrumented.sql');
    });

    it('the stand-alone script cannot tell, on a release that has fixed the bug, and says who can', async () => {
      // It starts SQLite itself, which has no such fault, and gets the answers that the faulty one gave.
      const { code, out } = await runNodeScript(bug);
      expect(out).toContain('isolde bugs rerun decides');
      expect(code).toBe(125);
    });
  },
);
