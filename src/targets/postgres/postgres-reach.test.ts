import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgresDriver } from './index.js';
import { asUser, describePostgres, startServer, urlOf } from './postgres-lab.case.js';
import type { PrivateServer } from './private-server.js';

describePostgres('what a login of a PostgreSQL server may change', () => {
  let server: PrivateServer;
  const shop = () => urlOf(server, { database: 'shop' });
  const urlFor = (user: string, password = 'x') => urlOf(server, { user, password, database: 'shop' });

  beforeAll(async () => {
    server = await startServer();
    await asUser(urlOf(server), 'CREATE DATABASE shop', 'CREATE DATABASE other');
    await asUser(
      shop(),
      'CREATE TABLE users (id INT PRIMARY KEY, name TEXT)',
      'CREATE SEQUENCE numbers',
      'CREATE ROLE staff',
      'GRANT INSERT ON users TO staff',
      'CREATE EXTENSION file_fdw',
      'CREATE SERVER files FOREIGN DATA WRAPPER file_fdw',
      'CREATE FUNCTION empty_users() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$ DELETE FROM users $$',
      'REVOKE EXECUTE ON FUNCTION empty_users() FROM PUBLIC',
      'SELECT lo_create(4711)',
    );
  });
  afterAll(() => server.stop());

  async function reachOf(url: string) {
    const target = await postgresDriver.open(url, {});
    try {
      return await target.reach!();
    } finally {
      await target.close();
    }
  }

  it.for([
    ['ALTER ROLE tester SUPERUSER', 'is a superuser'],
    ['ALTER ROLE tester CREATEROLE', 'may create roles'],
    ['ALTER ROLE tester CREATEDB REPLICATION', 'may create databases, replicate'],
    ['GRANT pg_write_server_files TO tester', 'is a member of pg_write_server_files'],
    ['ALTER DATABASE shop OWNER TO tester', 'owns database shop'],
    ['ALTER DATABASE other OWNER TO tester', 'owns database other'],
    [
      'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$; ALTER FUNCTION f() OWNER TO tester',
      'owns function public.f()',
    ],
    ['CREATE TYPE pair AS (a int, b int); ALTER TYPE pair OWNER TO tester', 'owns type public.pair'],
    ['CREATE DOMAIN small AS int; ALTER DOMAIN small OWNER TO tester', 'owns type public.small'],
    ['CREATE SCHEMA mine AUTHORIZATION tester', 'owns schema mine'],
    ['ALTER TABLE users OWNER TO tester', 'owns table public.users'],
    ['ALTER LARGE OBJECT 4711 OWNER TO tester', 'owns large object 4711'],
    ['GRANT UPDATE ON LARGE OBJECT 4711 TO tester', 'may change large object 4711'],
    ['CREATE PUBLICATION p; ALTER PUBLICATION p OWNER TO tester', 'owns publication p'],
    ['GRANT CREATE ON SCHEMA public TO PUBLIC', 'may create objects in schema public'],
    ['GRANT UPDATE (name) ON users TO tester', 'may change public.users'],
    ['GRANT TRUNCATE ON users TO PUBLIC', 'may change public.users'],
    ['GRANT staff TO tester', 'may change public.users'],
    ['GRANT MAINTAIN ON users TO tester', 'may maintain public.users'],
    ['GRANT USAGE ON SEQUENCE numbers TO tester', 'may change public.numbers'],
    [
      'GRANT EXECUTE ON FUNCTION empty_users() TO tester',
      'may call public.empty_users(), which runs with the rights of its owner',
    ],
    ['GRANT EXECUTE ON FUNCTION pg_reload_conf() TO tester', 'may call pg_reload_conf()'],
    ['GRANT USAGE ON FOREIGN SERVER files TO tester', 'may use the foreign server files'],
    ['GRANT USAGE ON FOREIGN DATA WRAPPER file_fdw TO tester', 'may create foreign servers with file_fdw'],
    ['GRANT ALTER SYSTEM ON PARAMETER work_mem TO tester', 'may change the setting work_mem of the server'],
  ] as const)('%s', async ([grant, why]) => {
    await asUser(shop(), `CREATE ROLE tester LOGIN PASSWORD 'x'`, 'GRANT CREATE ON DATABASE shop TO tester');
    try {
      expect(await reachOf(urlFor('tester'))).toEqual({ kind: 'scratch' });
      await asUser(shop(), ...grant.split('; '));
      const reach = await reachOf(urlFor('tester'));
      expect(reach).toMatchObject({ kind: 'beyond', why: `user "tester" ${why}` });
    } finally {
      await undo();
    }
  });

  /** Everything is the administrator's again. */
  async function undo(): Promise<void> {
    const me = server.login.user;
    await asUser(
      shop(),
      `ALTER DATABASE shop OWNER TO ${me}`,
      `ALTER DATABASE other OWNER TO ${me}`,
      `REASSIGN OWNED BY tester TO ${me}`,
      'DROP OWNED BY tester',
      'DROP ROLE tester',
      'REVOKE ALL ON users FROM PUBLIC',
      'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
    );
  }

  it('is the scratch alone for the role of the script that is printed', async () => {
    const reach = await reachOf(shop());
    if (reach.kind !== 'beyond') throw new Error(reach.kind);
    const [, ...script] = reach.advice.replace('…', 'its password').split('\n');
    await asUser(shop(), ...script);
    const user = /CREATE ROLE "(.*?)"/.exec(reach.advice)![1]!;
    const url = urlFor(user, 'its%20password');
    expect(await reachOf(url)).toEqual({ kind: 'scratch' });
    const target = await postgresDriver.open(url, {});
    try {
      const scratch = await target.createScratch();
      await scratch.reset(['CREATE TABLE t (id INT)', 'INSERT INTO t VALUES (1)']);
      // With a scratch, its tables and the copies of their rows, it still is.
      expect(await target.reach!()).toEqual({ kind: 'scratch' });
    } finally {
      await target.close();
    }
  });
});
