/** A database of which nothing is known but its JDBC URL; here H2, in memory. */
import { describe, expect, it } from 'vitest';
import { h2Available } from '../h2/index.js';
import { openTarget } from '../registry.js';

const missing = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : h2Available();
const limits = { statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 };

describe('jdbc:', () => {
  it('wants a URL of JDBC, and a driver for it', async () => {
    await expect(openTarget('jdbc:')).rejects.toThrow(/is no JDBC URL/);
    await expect(openTarget('jdbc:nosuch://host/db?password=hidden')).rejects.toThrow(
      /No driver for jdbc:nosuch.*ISOLDE_JDBC_CLASSPATH/,
    );
  });

  it.skipIf(missing !== undefined)(
    `works in a schema of its own of the database that is named${missing === undefined ? '' : ` (${missing})`}`,
    async () => {
      const url = 'jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1';
      const target = await openTarget(`${url};USER=sa;PASSWORD=hidden`);
      try {
        expect(target.stamp).toMatchObject({ name: 'jdbc', url: `${url};USER=sa;PASSWORD=***` });
        expect(target.stamp.settings?.product).toBe('H2');
        expect(target.stamp.version).toMatch(/^2\./);
        expect(target.levels.map(({ level, contract }) => [level, contract])).toContainEqual([
          'serializable',
          'ansi:serializable',
        ]);
        const first = await target.createScratch();
        const second = await target.createScratch();
        for (const scratch of [first, second]) {
          await scratch.reset(['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)']);
        }
        const open = (scratch: typeof first) => scratch.openSession({ ...limits, level: 'read committed' });
        const [writer, reader, other] = [await open(first), await open(first), await open(second)];
        await writer.execute('START TRANSACTION');
        expect(await writer.execute('UPDATE t SET v = 11')).toMatchObject({
          matched: 1,
          transaction: 'open',
        });
        expect((await reader.execute('SELECT v FROM t')).rows).toEqual([[10]]);
        expect((await writer.execute('COMMIT')).transaction).toBe('none');
        expect(await reader.execute('SELECT v FROM t')).toMatchObject({ columns: ['v'], rows: [[11]] });
        expect((await reader.execute('INSERT INTO t VALUES (1, 0)')).error?.class).toBe('duplicate-key');
        await first.drop();
        expect((await other.execute('SELECT v FROM t')).rows).toEqual([[10]]);
        await first.drop();
      } finally {
        await target.close();
      }
    },
    60_000,
  );
});
