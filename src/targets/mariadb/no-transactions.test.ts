/** Tables of Aria and MyISAM on a private server: why no contract is written for them (`docs/decisions/tables-without-transactions.md`). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scratch, Session, Target } from '../target.js';
import { mariadbAvailable, mariadbDriver } from './index.js';

const missing = mariadbAvailable();

describe.skipIf(missing !== undefined)(
  `Aria and MyISAM${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let target: Target;
    let scratch: Scratch;
    let [a, b]: Session[] = [];

    beforeAll(async () => {
      target = await mariadbDriver.open('mariadb:?engine=aria', {});
      scratch = await target.createScratch();
      const open = () =>
        scratch.openSession({ level: 'serializable', statementTimeoutMs: 20_000, lockTimeoutMs: 10_000 });
      [a, b] = [await open(), await open()];
    });
    afterAll(() => target?.close());

    it('says its engine in the stamp', () => {
      expect(target.stamp.settings).toMatchObject({ default_storage_engine: 'Aria' });
    });

    it.each(['', ' ENGINE=MyISAM'])(
      'keeps parts of what failed and of what was rolled back%s',
      async (engine) => {
        await scratch.reset([
          `CREATE TABLE t (id INT PRIMARY KEY, v INT)${engine}`,
          'INSERT INTO t VALUES (1, 10), (2, 20)',
        ]);
        const rows = async (session: Session) =>
          (await session.execute('SELECT id, v FROM t ORDER BY id')).rows;
        await a!.execute('BEGIN');
        const half = await a!.execute('INSERT INTO t VALUES (7, 70), (1, 11), (8, 80)');
        expect(half.error?.class).toBe('duplicate-key');
        const left = [
          [1, 10],
          [2, 20],
          [7, 70],
        ];
        expect(await rows(b!)).toEqual(left);
        await a!.execute('ROLLBACK');
        expect(await rows(b!)).toEqual(left);
      },
    );
  },
);
