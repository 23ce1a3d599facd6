/** Hostile SQL does no damage on any kind of URL. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { duckdbAvailable } from '../duckdb/index.js';
import { mariadbAvailable, startMariadbServer } from '../mariadb/index.js';
import { WireConnection as MysqlConnection } from '../mysql/mysql-wire.js';
import { postgresAvailable } from '../postgres/index.js';
import { asUser, connectOutsider, startServer, urlOf } from '../postgres/postgres-lab.case.js';
import { openTarget } from '../registry.js';
import { sqliteAvailable } from '../sqlite/index.js';
import { tursoAvailable } from '../turso/index.js';
import { type AttackResult, attack, makeWorld, type Outcome, type World } from './attack-lab.case.js';
import { attacks } from './attacks.case.js';

/** A URL to attack, with the world around it. */
interface Place {
  readonly url: string;
  readonly world: World;
  close(): Promise<void>;
}

interface UrlKind {
  readonly name: string;
  readonly available: () => string | undefined;
  readonly open: () => Promise<Place>;
  /** Nothing from a file is sent there. */
  readonly refusedAtOnce?: true;
}

const ownEngine = (url: string, available: UrlKind['available']): UrlKind => ({
  name: url,
  available,
  open: async () => ({ url, world: makeWorld(), close: async () => {} }),
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
  return {
    url: `duckdb:${file}`,
    world: makeWorld(),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function postgresServer(role: 'superuser' | 'documented'): Promise<Place> {
  const server = await startServer();
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
  const state = async () => {
    const answers = [
      await user.execute('SELECT u FROM public.users u ORDER BY id'),
      await user.execute('SELECT last_value, is_called FROM public.users_id_seq'),
      await user.execute(
        `SELECT attname FROM pg_attribute WHERE attrelid = 'public.users'::regclass ORDER BY 1`,
      ),
      await user.execute('SELECT rolname, rolsuper, rolcanlogin FROM pg_roles ORDER BY 1'),
      await user.execute('SELECT datname, datallowconn FROM pg_database ORDER BY 1'),
      await user.execute(`SELECT nspname FROM pg_namespace WHERE nspname !~ '^(isolde_|pg_)' ORDER BY 1`),
      await user.execute(`SELECT relacl FROM pg_class WHERE oid = 'public.users'::regclass`),
      await user.execute('SELECT count(*) FROM pg_trigger'),
    ];
    return JSON.stringify(answers.map(({ rows, error }) => error?.message ?? rows));
  };
  return {
    url:
      role === 'superuser' ? shop : urlOf(server, { user: 'tester', password: 'tester', database: 'shop' }),
    world: makeWorld(state),
    close: async () => {
      await user.close();
      await server.stop();
    },
  };
}

async function mariadbServer(role: 'root' | 'documented'): Promise<Place> {
  const server = await startMariadbServer();
  const user = await MysqlConnection.open(server.address);
  for (const sql of [
    'CREATE DATABASE shop',
    'USE shop',
    ...userTable,
    'CREATE PROCEDURE p() DELETE FROM shop.users',
    // As docs/stages/targets-mysql.md says.
    "CREATE USER tester@localhost IDENTIFIED BY 'tester'",
    'GRANT ALL ON `isolde\\_%`.* TO tester@localhost',
    'GRANT PROCESS ON *.* TO tester@localhost',
  ]) {
    const { error } = await user.query(sql);
    if (error !== undefined) throw new Error(`${sql}: ${error.message}`);
  }
  const state = async () => {
    const replies = [
      await user.query('SELECT * FROM shop.users ORDER BY id'),
      await user.query('SHOW COLUMNS FROM shop.users'),
      await user.query("SHOW DATABASES WHERE `Database` NOT LIKE 'isolde%'"),
      await user.query('SELECT user, host, Priv FROM mysql.global_priv ORDER BY 1, 2'),
      await user.query(
        'SELECT @@global.read_only, @@global.general_log, @@global.general_log_file, @@global.max_connections',
      ),
      await user.query('SELECT name FROM mysql.func UNION SELECT name FROM mysql.plugin'),
    ];
    return JSON.stringify(
      replies.map(({ rows, error }) => error?.message ?? rows?.map((row) => row.map(String))),
    );
  };
  const login = role === 'root' ? 'root' : 'tester:tester';
  return {
    url: `mariadb://${login}@localhost/?socket=${server.address.socket}`,
    world: makeWorld(state),
    close: async () => {
      await user.quit();
      await server.stop();
    },
  };
}

const urlKinds: readonly UrlKind[] = [
  ownEngine('duckdb:', duckdbAvailable),
  { name: 'duckdb:FILE', available: duckdbAvailable, open: duckdbFile, refusedAtOnce: true },
  ownEngine('sqlite:', sqliteAvailable),
  ownEngine('sqlite:?journal=delete', sqliteAvailable),
  ownEngine('turso:', tursoAvailable),
  ownEngine('turso:?mode=mvcc', tursoAvailable),
  ownEngine('postgres:', postgresAvailable),
  {
    name: 'postgres://superuser@…',
    available: postgresAvailable,
    open: () => postgresServer('superuser'),
    refusedAtOnce: true,
  },
  {
    name: 'postgres://tester@…',
    available: postgresAvailable,
    open: () => postgresServer('documented'),
  },
  ownEngine('mariadb:', mariadbAvailable),
  {
    name: 'mariadb://root@…',
    available: mariadbAvailable,
    open: () => mariadbServer('root'),
    refusedAtOnce: true,
  },
  { name: 'mariadb://tester@…', available: mariadbAvailable, open: () => mariadbServer('documented') },
];

const required = process.env.ISOLDE_REQUIRE_ENGINES === '1';

it('tries at least 300 statements on at least 11 kinds of URL', () => {
  const all = Object.values(attacks).flat();
  expect(new Set(all.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(300);
  expect(urlKinds.length).toBeGreaterThanOrEqual(11);
});

const found = new Map<string, readonly AttackResult[]>();

describe('hostile SQL does no damage on', () => {
  it.for(urlKinds)('$name', { timeout: 180_000 }, async (kind, { skip }) => {
    const missing = kind.available();
    if (missing !== undefined && !required) return skip(missing);
    const place = await kind.open();
    let results: readonly AttackResult[] = [];
    try {
      const target = await openTarget(place.url);
      try {
        expect((await target.reach?.())?.kind).toBe(kind.refusedAtOnce === true ? 'beyond' : 'scratch');
        results = await attack(target, place.world);
      } finally {
        await target.close();
      }
      expect(results.length).toBe(attacks[target.dialect].length);
    } finally {
      await place.close();
      await place.world.close();
    }
    found.set(kind.name, results);
    if (kind.refusedAtOnce === true)
      expect(results.filter((each) => mildest(each) !== 'not sent')).toEqual([]);
    const loud = results.filter(({ kind: what }) => what === 'write to the terminal');
    expect(loud.filter((each) => mildest(each) === 'harmless')).toEqual([]);
  });
});

/** The page holds what the attacks above gave; ISOLDE_UPDATE_DOCS=1 writes it. */
it('the documentation shows the outcome of every attack', ({ skip }) => {
  if (found.size < urlKinds.length) return skip('not every engine is here');
  const page = 'docs/stages/safety.md';
  const text = readFileSync(page, 'utf8');
  const [before, after] = [text.indexOf(tableStart) + tableStart.length, text.indexOf(tableEnd)];
  const table = `\n\n${renderTable()}\n\n`;
  if (process.env.ISOLDE_UPDATE_DOCS === '1') {
    writeFileSync(page, text.slice(0, before) + table + text.slice(after));
  } else expect(text.slice(before, after)).toBe(table);
});

const tableStart = '<!-- attacks -->';
const tableEnd = '<!-- /attacks -->';

/** The one of the two ways in that got further. */
function mildest({ inSetup, inSession }: AttackResult): Outcome {
  const order: readonly Outcome[] = ['not sent', 'refused', 'harmless'];
  return order[Math.max(order.indexOf(inSetup), order.indexOf(inSession))]!;
}

function renderTable(): string {
  const kinds = [...new Set(Object.values(attacks).flatMap((list) => list.map(({ kind }) => kind)))];
  const header = ['URL', ...kinds, 'damage'];
  const rows = urlKinds.map(({ name }) => {
    const results = found.get(name)!;
    const cells = kinds.map((kind) => {
      const outcomes = results.filter((each) => each.kind === kind).map(mildest);
      const count = (outcome: Outcome) => outcomes.filter((each) => each === outcome).length;
      return outcomes.length === 0 ? '' : `${count('not sent')} · ${count('refused')} · ${count('harmless')}`;
    });
    return [`\`${name}\``, ...cells, '0'];
  });
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
