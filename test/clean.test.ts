/** `isolde clean` drops what carries Isolde's mark and is not in use; by its name only an empty database whose name only we give. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, it } from 'vitest';
import { openTarget } from '../src/targets/index.js';
import { mariadbAvailable, startMariadbServer } from '../src/targets/mariadb/index.js';
import {
  createDatabase,
  dropScratch,
  listScratches,
  newNamespace,
} from '../src/targets/mysql/mysql-leftovers.js';
import { WireConnection } from '../src/targets/mysql/mysql-wire.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { asUser, connectOutsider, startServer, urlOf } from '../src/targets/postgres/postgres-lab.case.js';
import { sqliteAvailable } from '../src/targets/sqlite/index.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-clean-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const left = 'isolde_aaaaaaaaaaaa';
const unmarked = 'isolde_bbbbbbbbbbbb';
const hourOld = new Date(Date.now() - 3_600_000).toISOString();
const mark = `isolde scratch, made ${hourOld}`;
const missing = (reason: string | undefined) => reason !== undefined && !enginesRequired;

async function cleaned(url: string, ...flags: readonly string[]): Promise<readonly string[]> {
  const { code, out, err } = await isolde(['clean', url, '--json', ...flags]);
  expect(err).toBe('');
  expect(code).toBe(0);
  const told = JSON.parse(out) as readonly { namespace: string; dropped: boolean }[];
  return told.filter(({ dropped }) => dropped).map(({ namespace }) => namespace);
}

describe('clean', () => {
  it.skipIf(missing(sqliteAvailable()))('removes folders of dead owners', async () => {
    const url = `sqlite:${folder}`;
    const target = await openTarget(url);
    const used = await target.createScratch();
    for (const name of [left, unmarked]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, left, 'isolde-scratch'), `${mark} by ${2 ** 22 + 1}\n`);
    expect(await cleaned(url, '--dry-run')).toEqual([]);
    expect(await cleaned(url, '--older-than', '2h')).toEqual([]);
    expect(existsSync(join(folder, left))).toBe(true);
    expect(await cleaned(url, '--older-than', '30m')).toEqual([left]);
    expect(readdirSync(folder).sort()).toEqual([unmarked, used.namespace].sort());
    await target.close();
  });

  it('drops schemas of a DuckDB file', async () => {
    const file = join(folder, 'x.duckdb');
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    for (const name of [left, unmarked])
      await connection.run(`CREATE SCHEMA ${name}; CREATE TABLE ${name}.t (a INT)`);
    await connection.run(`CREATE MACRO ${left}.isolde_mark() AS '${mark}'`);
    connection.closeSync();
    instance.closeSync();
    expect(await cleaned(`duckdb:${file}`)).toEqual([left]);
    const after = await DuckDBInstance.create(file);
    const rows = await (
      await (await after.connect()).run('SELECT schema_name FROM duckdb_tables()')
    ).getRows();
    expect(rows).toEqual([[unmarked]]);
    after.closeSync();
  });

  it.skipIf(missing(postgresAvailable()))(
    'drops schemas of a PostgreSQL server',
    { timeout: 60_000 },
    async () => {
      const server = await startServer();
      const url = urlOf(server);
      await asUser(
        url,
        ...[left, `${left}_copy`, unmarked].map((name) => `CREATE SCHEMA ${name}`),
        ...[left, `${left}_copy`].map((name) => `COMMENT ON SCHEMA ${name} IS '${mark}'`),
        `COMMENT ON SCHEMA ${unmarked} IS 'mine'`,
      );
      const target = await openTarget(url);
      const used = await target.createScratch();
      expect(await cleaned(url)).toEqual([left]);
      // Somebody was killed between the two.
      await asUser(url, `CREATE SCHEMA ${left}_copy`, `COMMENT ON SCHEMA ${left}_copy IS '${mark}'`);
      expect(await cleaned(url)).toEqual([left]);
      const user = await connectOutsider(url);
      const { rows } = await user.execute(
        `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isolde%' ORDER BY 1`,
      );
      expect(rows?.flat()).toEqual([unmarked, used.namespace].sort());
      await user.close();
      await target.close();
      await server.stop();
    },
  );

  it.skipIf(missing(mariadbAvailable()))(
    'drops databases of a MariaDB server',
    { timeout: 60_000 },
    async () => {
      const server = await startMariadbServer();
      const url = `mariadb://root@localhost/?socket=${server.address.socket}`;
      const user = await WireConnection.open(server.address);
      await user.query(createDatabase(left, mark, true)[0]!);
      await user.query(`CREATE DATABASE ${unmarked}`);
      const target = await openTarget(url);
      const used = await target.createScratch();
      expect(await cleaned(url)).toEqual([left]);
      const names = async () => {
        const { rows } = await user.query("SHOW DATABASES LIKE 'isolde%'");
        return rows?.map(([name]) => String(name)).sort();
      };
      expect(await names()).toEqual([unmarked, used.namespace].sort());
      // Where databases have no comments, a table carries the mark.
      const host = {
        hasDatabaseComments: false,
        askMonitor: (sql: string) => user.query(sql),
        askApart: async (sql: string) => {
          const apart = await WireConnection.open(server.address);
          return apart.query(sql).finally(() => apart.quit());
        },
      };
      for (const sql of createDatabase(left, mark, false)) await user.query(sql);
      const others = async (of: typeof host) =>
        (await listScratches(of)).filter(({ namespace }) => namespace !== used.namespace);
      const found = (inUse: boolean) => [{ namespace: left, madeAt: hourOld, inUse }];
      expect(await others(host)).toEqual(found(false));
      // Where the server cannot say who holds a lock, it is tried.
      const unable = { error: { code: 'ER_SP_DOES_NOT_EXIST', errno: 1305, message: 'no such function' } };
      const older = {
        ...host,
        askMonitor: async (sql: string) => (sql.includes('IS_USED_LOCK') ? unable : user.query(sql)),
      };
      await user.query(`SELECT GET_LOCK('${left}', 0)`);
      expect(await others(older)).toEqual(found(true));
      await user.query(`SELECT RELEASE_LOCK('${left}')`);
      expect(await others(older)).toEqual(found(false));
      for (const name of [left, unmarked]) await dropScratch(host, name);
      // Killed before there was a mark: empty, and with a name that only we give.
      const bare = newNamespace();
      await user.query(`CREATE DATABASE ${bare}`);
      expect(await others(host)).toEqual([{ namespace: bare, madeAt: undefined, inUse: false }]);
      await user.query(`SELECT GET_LOCK('${bare}', 0)`);
      expect((await others(host))[0]?.inUse).toBe(true);
      await user.query(`SELECT RELEASE_LOCK('${bare}')`);
      await user.query(`CREATE TABLE ${bare}.mine (a INT)`);
      expect(await others(host)).toEqual([]);
      await user.query(`DROP TABLE ${bare}.mine`);
      await dropScratch(host, bare);
      expect(await names()).toEqual([unmarked, used.namespace].sort());
      await user.quit();
      await target.close();
      await server.stop();
    },
  );
});
