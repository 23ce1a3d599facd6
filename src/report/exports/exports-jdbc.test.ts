/** Exports of JDBC databases run without Isolde: Node, a JDK and the engine's jar. */
import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../cases/index.js';
import { openTarget } from '../../targets/index.js';
import { missingJdbcEngine } from '../../targets/jdbc/jdbc-adapter.js';
import { engineFolder } from '../../targets/programs.js';
import type { Bug } from '../bug.js';
import { recordRun, runNodeScript } from './run-export.case.js';

const text = `
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T1: BEGIN;
T1: UPDATE t SET v = 11 WHERE id % 2 = 1 AND id = 1;
T2: INSERT INTO t VALUES (2, 0);
T1: SELECT v FROM t WHERE id = 1;
T1: COMMIT;
T2: SELECT id, v FROM t;
`;

const required = process.env.ISOLDE_REQUIRE_ENGINES === '1';

describe.each([
  { engine: 'h2', url: 'h2:' },
  { engine: 'hsqldb', url: 'hsqldb:?tx=mvcc' },
  { engine: 'derby', url: 'derby:' },
])('$url', ({ engine, url }) => {
  const missing = required ? undefined : missingJdbcEngine(engine);
  it.skipIf(missing !== undefined)(
    `the stand-alone script gives the same answers${missing === undefined ? '' : ` (${missing})`}`,
    async () => {
      const bug = await record(url);
      const folder = join(engineFolder(engine), 'jars');
      const jars = readdirSync(folder).map((jar) => join(folder, jar));
      const { code, out, err } = await runNodeScript(bug, jars.join(delimiter));
      expect(err).not.toContain('could not be run');
      expect(out).toContain('T2: SELECT id, v FROM t  --> (1, 11) (2, 20)');
      expect(out).toContain('The bug shows');
      expect(code).toBe(1);
    },
    240_000,
  );
});

async function record(url: string): Promise<Bug> {
  const target = await openTarget(url);
  try {
    const scratch = await target.createScratch();
    return await recordRun(target, scratch, parseScript(text, { file: 'small.sql', dialect: 'postgres' }));
  } finally {
    await target.close();
  }
}
