/** TiDB as it was in January 2023 (`scripts/engines tidb-old`). */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineFolder } from '../programs.js';
import { providedEngines } from '../provided-engines.case.js';
import { openTarget } from '../registry.js';
import { startTidbServer } from './index.js';
import { describeTidbConformance } from './tidb-conformance.case.js';

const { url, missing } = providedEngines.tidbOld;

describeTidbConformance({
  start: () => startTidbServer({ binary: join(engineFolder('tidb-old'), 'bin/tidb-server') }),
  available: () => missing,
});

describe.skipIf(missing !== undefined)(
  `a private TiDB${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    it('is not asked for its memory: a heap of Go grows by hundreds of megabytes between collections', async () => {
      const target = await openTarget(url);
      expect(target.memoryBytes).toBeUndefined();
      await target.close();
    });

    it('knows lock time-outs in pessimistic transactions, and conflicts at the commit of optimistic ones', async () => {
      const target = await openTarget(url);
      try {
        const scratch = await target.createScratch();
        await scratch.reset(['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)']);
        const open = (level: 'repeatable read' | 'snapshot') =>
          scratch.openSession({ level, statementTimeoutMs: 20_000, lockTimeoutMs: 1000 });
        const [holder, waiter] = [await open('repeatable read'), await open('repeatable read')];
        for (const session of [holder, waiter]) await session.execute('BEGIN PESSIMISTIC');
        await holder.execute('UPDATE t SET v = v + 1');
        expect((await waiter.execute('UPDATE t SET v = v + 1')).error?.class).toBe('lock-timeout');
        for (const session of [holder, waiter]) await session.execute('ROLLBACK');

        const [first, second] = [await open('snapshot'), await open('snapshot')];
        for (const session of [first, second]) {
          await session.execute('BEGIN OPTIMISTIC');
          expect((await session.execute('UPDATE t SET v = v + 1')).error).toBeUndefined();
        }
        expect((await first.execute('COMMIT')).ended).toBe('commit');
        const late = await second.execute('COMMIT');
        expect([late.error?.class, late.error?.code, late.ended]).toEqual([
          'serialization',
          '9007',
          'rollback',
        ]);
        expect((await first.execute('SELECT v FROM t')).rows).toEqual([[11]]);
      } finally {
        await target.close();
      }
    });
  },
);
