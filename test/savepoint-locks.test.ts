/** Locks that end with ROLLBACK TO: what was read before it may change, and no anomaly follows from that. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../src/cases/index.js';
import { runAndJudge } from '../src/judge/index.js';
import { openTarget } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { enginesRequired } from './isolde.js';

const missing = enginesRequired ? undefined : mariadbAvailable();

describe.skipIf(missing !== undefined)(
  `MariaDB at SERIALIZABLE${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    it('lets go of what was read behind a savepoint set before the first statement', async () => {
      const scheduled = parseScript(
        `-- isolde script
-- level: serializable
CREATE TABLE t (id INT PRIMARY KEY, v INT);
CREATE TABLE u (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 0);
INSERT INTO u VALUES (1, 0);
T1: BEGIN
T1: SAVEPOINT s1
T1: SELECT * FROM t WHERE id = 1
T1: ROLLBACK TO SAVEPOINT s1
T2: BEGIN
T2: UPDATE t SET v = 1 WHERE id = 1
T2: UPDATE u SET v = 1 WHERE id = 1
T2: COMMIT
T1: SELECT * FROM u WHERE id = 1
T1: COMMIT
`,
        { file: 'savepoint.sql', dialect: 'mysql' },
      );
      const target = await openTarget('mariadb:');
      try {
        const scratch = await target.createScratch();
        const judged = await runAndJudge({ ...scheduled, oracle: 'dependency-graph' }, { target, scratch });
        const last = judged.history.operations.findLast(({ kind }) => kind === 'select')!;
        // The other transaction got through: the lock of the first read was gone.
        expect(last.rows).toEqual([[1, 1]]);
        expect(judged.findings).toEqual([]);
      } finally {
        await target.close();
      }
    });
  },
);
