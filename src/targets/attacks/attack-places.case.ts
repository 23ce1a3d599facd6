/**
 * The kinds of URL that are attacked, each with the world around it: a folder of canary files, and on servers what belongs to a user: a table, a
 * sequence, roles with their passwords and settings, databases, large objects, a session of another program with the same login.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Outsider } from '../conformance/lab.case.js';
import { derbyAvailable } from '../derby/index.js';
import { duckdbAvailable } from '../duckdb/index.js';
import { h2Available } from '../h2/index.js';
import { hsqldbAvailable } from '../hsqldb/index.js';
import { mariadbAvailable, startMariadbServer } from '../mariadb/index.js';
import { mysqlAvailable, startMysqlServer } from '../mysql/index.js';
import { openFamilyTarget } from '../mysql/mysql-target.js';
import { WireConnection as MysqlConnection } from '../mysql/mysql-wire.js';
import type { PrivateServer as MysqlServer, PrivateServerOptions } from '../mysql/private-server.js';
import { postgresAvailable } from '../postgres/index.js';
import { asUser, connectOutsider, startServer, urlOf } from '../postgres/postgres-lab.case.js';
import type { PostgresScratch } from '../postgres/postgres-scratch.js';
import { openTarget } from '../registry.js';
import { sqliteAvailable } from '../sqlite/index.js';
import type { Target } from '../target.js';
import { startTidbServer, tidbAvailable } from '../tidb/index.js';
import { tursoAvailable } from '../turso/index.js';
import { makeWorld, type World } from './attack-lab.case.js';

/** What is attacked, with the world around it. */
export interface Place {
  readonly target: Target;
  readonly world: World;
  close(): Promise<void>;
}

export interface UrlKind {
  readonly name: string;
  readonly available: () => string | undefined;
  readonly open: () => Promise<Place>;
  /** Nothing from a file is sent there. */
  readonly refusedAtOnce?: true;
  /** What is sent must be on the allow-list. */
  readonly allowList?: true;
  /** Not on every machine (`scripts/engines`). */
  readonly optional?: true;
}

const ownEngine = (url: string, available: UrlKind['available'], name = url): UrlKind => ({
  name,
  available,
  open: async () => {
    const target = await openTarget(url);
    return { target, world: makeWorld(), close: () => target.close() };
  },
});

const userTable = [
  'CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20))',
  "INSERT INTO users VALUES (1, 'ann'), (2, 'bob')",
];

async function duckdbFile(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-duckdb-'));
  const file = join(folder, 'shop.duckdb');
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  for (const sql of userTable) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
  const target = await openTarget(`duckdb:${file}`);
  return {
    target,
    world: makeWorld(),
    close: async () => {
      await target.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What must stay as it is on a PostgreSQL server, asked by a superuser. */
const postgresQuestions = [
  'SELECT u FROM public.users u ORDER BY id',
  'SELECT last_value, is_called FROM public.users_id_seq',
  `SELECT attname FROM pg_attribute WHERE attrelid = 'public.users'::regclass ORDER BY 1`,
  'SELECT rolname, rolsuper, rolcanlogin, rolpassword, rolconnlimit, rolvaliduntil::text FROM pg_authid ORDER BY 1',
  'SELECT setdatabase, setrole, setconfig FROM pg_db_role_setting ORDER BY 1, 2',
  'SELECT roleid, member, grantor FROM pg_auth_members ORDER BY 1, 2, 3',
  'SELECT datname, datallowconn, datacl FROM pg_database ORDER BY 1',
  `SELECT nspname, nspacl FROM pg_namespace WHERE nspname !~ '^(isolde_|pg_t)' ORDER BY 1`,
  `SELECT relacl FROM pg_class WHERE oid = 'public.users'::regclass`,
  'SELECT count(*) FROM pg_trigger',
  'SELECT oid, lomowner, lomacl FROM pg_largeobject_metadata ORDER BY 1',
  'SELECT extname FROM pg_extension UNION SELECT pubname FROM pg_publication UNION SELECT srvname FROM pg_foreign_server ORDER BY 1',
  'SELECT count(*) FROM pg_default_acl',
  'SELECT gid FROM pg_prepared_xacts ORDER BY 1',
  'SELECT spcname FROM pg_tablespace ORDER BY 1',
  'SELECT objoid, description FROM pg_shdescription ORDER BY 1',
  `SELECT name, setting FROM pg_settings WHERE name <> 'in_hot_standby' ORDER BY 1`,
];

const postgresState = [
  `SELECT concat_ws(E'\\n', ${postgresQuestions.map((sql) => `(SELECT json_agg(x)::text FROM (${sql}) x)`).join(', ')})`,
];

type Ask = (sql: string) => Promise<{
  readonly rows?: readonly (readonly unknown[])[] | undefined;
  readonly error?: { readonly message: string } | undefined;
}>;

async function stateOf(ask: Ask, questions: readonly string[]): Promise<string> {
  const answers: string[] = [];
  for (const sql of questions) {
    const { rows = [], error } = await ask(sql);
    answers.push(error?.message ?? rows.map((row) => row.map(String).join(' ')).join('; '));
  }
  return answers.join('\n');
}

async function privatePostgres(): Promise<Place> {
  const target = await openTarget('postgres:');
  // As the superuser who makes the scratches.
  const { connect } = target as unknown as {
    readonly connect: { control(settings: object): ReturnType<PostgresControl> };
  };
  const admin = await connect.control({});
  for (const sql of [...userTable, 'CREATE SEQUENCE users_id_seq']) await admin.execute(sql);
  return {
    target,
    world: makeWorld(() => stateOf((sql) => admin.execute(sql), postgresState)),
    close: async () => {
      await admin.close();
      await target.close();
    },
  };
}

type PostgresControl = Parameters<(typeof PostgresScratch)['create']>[0]['connect']['control'];

async function postgresServer(role: 'superuser' | 'documented'): Promise<Place> {
  const server = await startServer({ max_prepared_transactions: '4' });
  await asUser(
    urlOf(server),
    'CREATE DATABASE shop',
    // As docs/stages/targets-postgres.md says.
    `CREATE ROLE tester LOGIN PASSWORD 'tester'`,
    'GRANT CREATE ON DATABASE shop TO tester',
  );
  const shop = urlOf(server, { database: 'shop' });
  await asUser(shop, ...userTable, 'CREATE SEQUENCE users_id_seq');
  const user = await connectOutsider(shop);
  const tester = urlOf(server, { user: 'tester', password: 'tester', database: 'shop' });
  const neighbour = await connectOutsider(tester);
  const target = await openTarget(role === 'superuser' ? shop : tester);
  const state = async () =>
    `${await lives(neighbour)} ${await stateOf((sql) => user.execute(sql), postgresState)}`;
  return {
    target,
    world: makeWorld(state),
    close: async () => {
      await target.close();
      await neighbour.close();
      await user.close();
      await server.stop();
    },
  };
}

/** Another program's session with the same login. */
async function lives(neighbour: Outsider): Promise<string> {
  const { error } = await neighbour.execute('SELECT 1');
  return error === undefined ? 'the neighbour is there' : error.message;
}

interface FamilyServer {
  readonly scheme: 'mariadb' | 'mysql' | 'tidb';
  readonly start: (options?: PrivateServerOptions) => Promise<MysqlServer>;
}

const mariadb: FamilyServer = { scheme: 'mariadb', start: startMariadbServer };
const mysql: FamilyServer = { scheme: 'mysql', start: startMysqlServer };
const tidb: FamilyServer = { scheme: 'tidb', start: startTidbServer };

/** What must stay as it is on a server of MySQL's family, asked by root. */
function familyState({ scheme }: FamilyServer, whose: 'private' | 'of a user'): readonly string[] {
  const accounts =
    scheme === 'mariadb' ? 'user, host, Priv' : 'user, host, authentication_string, account_locked';
  const table = scheme === 'mariadb' ? 'mysql.global_priv' : 'mysql.user';
  // A private server gives the user of cases his password back, and ends prepared transactions, when it is needed.
  const which = whose === 'private' ? `WHERE user <> 'isolde_case'` : '';
  return [
    'SELECT * FROM shop.users ORDER BY id',
    'SHOW COLUMNS FROM shop.users',
    `SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT LIKE 'isolde\\_%' OR schema_name = 'isolde_left' ORDER BY 1`,
    `SELECT ${accounts} FROM ${table} ${which} ORDER BY 1, 2`,
    `SELECT user, host, db FROM mysql.db WHERE db NOT LIKE 'isolde%' ORDER BY 1, 2, 3`,
    `SELECT variable_name, variable_value FROM ${
      scheme === 'mariadb' ? 'information_schema.global_variables' : 'performance_schema.global_variables'
    } WHERE lower(variable_name) NOT REGEXP 'gtid|timestamp|last_|rand_seed|identity|insert_id|error_count|warning_count|pseudo|buffer_result|tidb_current_ts' ORDER BY 1`,
    ...(scheme === 'mariadb' ? ['SELECT name FROM mysql.func UNION SELECT name FROM mysql.plugin'] : []),
    ...(scheme === 'tidb' || whose === 'private' ? [] : ['XA RECOVER']),
  ];
}

async function administrator(server: MysqlServer): Promise<MysqlConnection> {
  const root = await MysqlConnection.open(server.address);
  for (const sql of ['CREATE DATABASE shop', 'USE shop', ...userTable]) await must(root, sql);
  return root;
}

async function must(root: MysqlConnection, sql: string): Promise<void> {
  const { error } = await root.query(sql);
  if (error !== undefined) throw new Error(`${sql}: ${error.message}`);
}

async function privateFamily(family: FamilyServer): Promise<Place> {
  const server = await family.start();
  const root = await administrator(server);
  // As `openFamilyUrl` does, with a server that we know the root of.
  const target = await openFamilyTarget({
    address: server.address,
    variables: {},
    shown: `${family.scheme}:`,
    isPrivate: true,
    onClose: server.stop,
  });
  const state = familyState(family, 'private');
  return {
    target,
    world: makeWorld(() => stateOf((sql) => root.query(sql), state)),
    close: async () => {
      await root.quit();
      await target.close();
    },
  };
}

async function familyServer(family: FamilyServer, role: 'root' | 'documented'): Promise<Place> {
  const server = await family.start();
  const root = await administrator(server);
  const { host, port, socket } = server.address;
  const from = socket === undefined ? '%' : 'localhost';
  for (const sql of [
    ...(family === tidb ? [] : ['CREATE PROCEDURE shop.p() DELETE FROM shop.users']),
    // As docs/stages/targets-mysql.md says.
    `CREATE USER tester@'${from}' IDENTIFIED BY 'tester'`,
    `GRANT ALL ON \`isolde\\_%\`.* TO tester@'${from}'`,
    `GRANT PROCESS ON *.* TO tester@'${from}'`,
  ])
    await must(root, sql);
  const neighbour = await MysqlConnection.open({ ...server.address, user: 'tester', password: 'tester' });
  const questions = familyState(family, 'of a user');
  const state = async () => {
    const { error } = await neighbour.query('SELECT 1');
    const there = error === undefined ? 'the neighbour is there' : error.message;
    return `${there} ${await stateOf((sql) => root.query(sql), questions)}`;
  };
  const login = role === 'root' ? 'root' : 'tester:tester';
  const place = socket === undefined ? `${host}:${port}/` : `localhost/?socket=${socket}`;
  const target = await openTarget(`${family.scheme}://${login}@${place}`);
  return {
    target,
    world: makeWorld(state),
    close: async () => {
      await target.close();
      await neighbour.quit();
      await root.quit();
      await server.stop();
    },
  };
}

const serverKinds = (
  family: FamilyServer,
  available: UrlKind['available'],
  optional: Pick<UrlKind, 'optional'>,
): readonly UrlKind[] => [
  { name: `${family.scheme}:`, available, ...optional, open: () => privateFamily(family) },
  {
    name: `${family.scheme}://root@…`,
    available,
    ...optional,
    open: () => familyServer(family, 'root'),
    refusedAtOnce: true,
  },
  {
    name: `${family.scheme}://tester@…`,
    available,
    ...optional,
    open: () => familyServer(family, 'documented'),
  },
];

function pythonAvailable(): string | undefined {
  return spawnSync('python3', ['-c', 'import sqlite3']).status === 0
    ? undefined
    : 'python3 with sqlite3 is not installed';
}

export const urlKinds: readonly UrlKind[] = [
  ownEngine('duckdb:', duckdbAvailable),
  { name: 'duckdb:FILE', available: duckdbAvailable, open: duckdbFile, refusedAtOnce: true },
  ownEngine('sqlite:', sqliteAvailable),
  ownEngine('sqlite:?journal=delete', sqliteAvailable),
  ownEngine('turso:', tursoAvailable),
  ownEngine('turso:?mode=mvcc', tursoAvailable),
  { name: 'postgres:', available: postgresAvailable, open: privatePostgres },
  {
    name: 'postgres://superuser@…',
    available: postgresAvailable,
    open: () => postgresServer('superuser'),
    refusedAtOnce: true,
  },
  { name: 'postgres://tester@…', available: postgresAvailable, open: () => postgresServer('documented') },
  ...serverKinds(mariadb, mariadbAvailable, {}),
  ...serverKinds(mysql, mysqlAvailable, { optional: true }),
  ...serverKinds(tidb, tidbAvailable, { optional: true }),
  ownEngine('h2:', h2Available),
  ownEngine('hsqldb:', hsqldbAvailable),
  ownEngine('hsqldb:?tx=mvcc', hsqldbAvailable),
  { ...ownEngine('derby:', derbyAvailable), allowList: true },
  {
    ...ownEngine('exec:python3 examples/exec-sqlite/adapter.py', pythonAvailable, 'exec:COMMAND'),
    allowList: true,
  },
];
