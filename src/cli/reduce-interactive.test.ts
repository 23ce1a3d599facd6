import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-together-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'six.sql');
writeFileSync(
  file,
  `CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T2: BEGIN;
T2: SELECT * FROM t;
T1: SELECT v FROM t WHERE id = 2;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
`,
);

async function* typed(...lines: readonly string[]) {
  yield* lines;
}

it('shrinks together in a terminal', async () => {
  const saved = join(folder, 'small.sql');
  const lines = () =>
    typed(
      'drop 2',
      'try',
      'undo',
      'drop 3',
      'try',
      'nonsense',
      'edit 99 SELECT 1',
      'tree',
      'auto',
      `save ${saved}`,
      'quit',
      'try',
    );
  const { code, out, err } = await isolde(['reduce', file, '--interactive'], { lines });
  expect(code).toBe(1);
  expect(out).toContain('   2 ! T2: SELECT * FROM t;');
  expect(out).toContain('   2 - T2: SELECT * FROM t;');
  expect(out).toContain('nothing is wrong any more');
  expect(out).toContain('the same finding');
  expect(out).toContain('    1: dropped 2 (nothing is wrong any more)');
  expect(out).toContain('*   2: dropped 3 (the same finding)');
  expect(out).toMatch(/automatic: 5 → \d statements/);
  expect(err).toContain('there is no command "nonsense"');
  expect(err).toContain('there is no line "99"');
  expect(readFileSync(saved, 'utf8')).toMatch(/T\d: DELETE FROM/);
  // What is saved shows the same.
  expect((await isolde(['run', saved, '--check'])).code).toBe(1);
});

it('says what is missing', async () => {
  expect((await isolde(['reduce', file, '--interactive'])).err).toContain('needs somebody who types');
});
