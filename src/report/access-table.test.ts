import { expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { openTarget } from '../targets/index.js';
import { accessRows } from './access-table.js';
import { findBug } from './found-bug.case.js';

it('a wrong line of a table without a key is of the row that the finding names', async () => {
  const target = await openTarget('duckdb:?fault=commit-on-rollback');
  try {
    const script = `CREATE TABLE t (a INT);
      INSERT INTO t VALUES (0);
      T1: BEGIN;
      T1: UPDATE t SET a = 1;
      T1: ROLLBACK;
      T2: SELECT * FROM t;`;
    const scheduled = parseScript(script, { file: 'case.sql', dialect: 'duckdb' });
    const bug = await findBug({ target, scratch: await target.createScratch(), scheduled });
    const wrong = accessRows(bug).filter((row) => row.wrong);
    expect(wrong).toEqual([
      expect.objectContaining({ operation: 3, actual: '(1)', expected: '(0), initial' }),
    ]);
    // Whoever is not told of the finding sees what the rows alone say.
    const { finding: _, ...untold } = bug;
    expect(accessRows(untold).filter((row) => row.wrong)).toHaveLength(2);
  } finally {
    await target.close();
  }
});
