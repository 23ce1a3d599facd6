/** MySQL as it was in 2015 (`scripts/engines mysql-5.6`). */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../conformance/lab.case.js';
import { engineFolder } from '../programs.js';
import { providedEngines } from '../provided-engines.case.js';
import { openTarget } from '../registry.js';
import { describeFamilyConformance } from './family-conformance.case.js';
import { mysqlDriver, startMysqlServer } from './index.js';

const { url, missing } = providedEngines.mysql56;

describeFamilyConformance({
  scheme: 'mysql',
  driver: mysqlDriver,
  start: () => startMysqlServer({ binary: join(engineFolder('mysql-5.6'), 'bin/mysqld') }),
  available: () => missing,
  optional: true,
  skips: { 'other constraints have class constraint': 'CHECK is read and not kept before 8.0.16' },
});

describe.skipIf(missing !== undefined)(`MySQL 5.6${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('leaves no transaction behind a deadlock, where its own would go on unseen', async () => {
    const target = await openTarget(url);
    try {
      expect(target.stamp.version).toMatch(/^5\.6\./);
      const scratch = await target.createScratch();
      await scratch.reset([
        'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
        'INSERT INTO t VALUES (1, 10), (2, 20)',
      ]);
      const limits = { level: 'serializable', statementTimeoutMs: 20_000, lockTimeoutMs: 10_000 } as const;
      const [first, second] = [await scratch.openSession(limits), await scratch.openSession(limits)];
      for (const session of [first, second]) {
        await session.execute('BEGIN');
        await session.execute('SELECT * FROM t');
      }
      const updates = [first.execute('UPDATE t SET v = 1 WHERE id = 1')];
      await eventually(10_000, 'it waits', async () => (await scratch.waiting()).has(first));
      updates.push(second.execute('UPDATE t SET v = 2 WHERE id = 2'));
      const answers = await Promise.all(updates);
      const lost = answers.findIndex(({ error }) => error?.class === 'deadlock');
      const [victim, other] = lost === 0 ? [first, second] : [second, first];
      expect(answers[lost]).toMatchObject({ transaction: 'none', ended: 'rollback' });
      await other.execute('COMMIT');
      // Outside of a transaction, as the session says: nobody has to wait for it.
      await victim.execute('SELECT * FROM t');
      expect((await other.execute('UPDATE t SET v = 3')).changed).toBe(2);
      await scratch.reset(['CREATE TABLE u (id INT PRIMARY KEY)']);
    } finally {
      await target.close();
    }
  });
});
