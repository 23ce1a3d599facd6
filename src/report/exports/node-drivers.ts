/**
 * How a stand-alone script talks to each engine: plain JavaScript that defines `open()`, which gives back `session()` and
 * `close()`. A session's `run(sql)` returns `{ rows, count }` with cells as text or null.
 *
 * Servers get a schema or database of their own that is dropped at the end; embedded engines a temporary file.
 */
export interface NodeDriver {
  readonly packages: readonly string[];
  /** How the script is called, behind its name. */
  readonly argument: string;
  readonly code: string;
}

const address = (example: string) => `
const url = process.argv[2] ?? process.env.DATABASE_URL;
if (url === undefined) {
  console.error('usage: node repro.mjs ${example}');
  process.exit(2);
}
const scratch = 'isolde_repro_' + process.pid + '_' + Date.now().toString(36);
`;

const temporary = `
const folder = mkdtempSync(join(tmpdir(), 'isolde-repro-'));
const file = join(folder, 'repro.db');
`;

const temporaryImports = `import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';`;

const postgres: NodeDriver = {
  packages: ['pg'],
  argument: 'postgres://user:password@host:5432/database',
  code: `import pg from 'pg';
${address('postgres://user:password@host:5432/database')}
async function open() {
  const clients = [];
  const connect = async () => {
    // Every value as the server's own text.
    const client = new pg.Client({ connectionString: url, types: { getTypeParser: () => (text) => text } });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  const owner = await connect();
  await owner.query('CREATE SCHEMA ' + scratch);
  const session = async (level) => {
    const client = await connect();
    await client.query('SET search_path = ' + scratch + "; SET TimeZone = 'UTC'");
    await client.query("SET default_transaction_isolation = '" + level + "'");
    return {
      async run(sql) {
        const result = await client.query({ text: sql, rowMode: 'array' });
        return { rows: result.fields.length > 0 ? result.rows : undefined, count: result.rowCount ?? undefined, command: result.command };
      },
    };
  };
  const close = async () => {
    for (const client of clients.slice(1)) await client.end();
    await owner.query('DROP SCHEMA ' + scratch + ' CASCADE');
    await owner.end();
  };
  return { session, close };
}`,
};

const mysql: NodeDriver = {
  packages: ['mysql2'],
  argument: 'mysql://user:password@host:3306/',
  code: `import mysql from 'mysql2/promise';
${address('mysql://user:password@host:3306/')}
const connectionOptions = url.startsWith('/') ? { socketPath: url, user: 'root' } : { uri: url };

async function open() {
  const connections = [];
  const connect = async () => {
    // Every value as the server's own text.
    const connection = await mysql.createConnection({
      ...connectionOptions,
      rowsAsArray: true,
      typeCast: (field) => {
        const bytes = field.buffer();
        return bytes === null ? null : bytes.toString('utf8');
      },
    });
    connection.on('error', () => {});
    connections.push(connection);
    return connection;
  };
  const owner = await connect();
  await owner.query('CREATE DATABASE ' + scratch + ' CHARACTER SET utf8mb4');
  const session = async (level) => {
    const connection = await connect();
    await connection.query('USE ' + scratch);
    await connection.query("SET time_zone = '+00:00'");
    const name = level === 'snapshot' ? 'repeatable read' : level;
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL ' + name.toUpperCase());
    return {
      async run(sql) {
        const [result] = await connection.query(sql);
        return Array.isArray(result) ? { rows: result } : { count: result.affectedRows };
      },
    };
  };
  const close = async () => {
    for (const connection of connections.slice(1)) connection.destroy();
    await owner.query('DROP DATABASE ' + scratch);
    await owner.end();
  };
  return { session, close };
}`,
};

const duckdb: NodeDriver = {
  packages: ['@duckdb/node-api'],
  argument: '',
  code: `import { DuckDBInstance } from '@duckdb/node-api';

async function open() {
  const instance = await DuckDBInstance.create(':memory:');
  const connections = [];
  const session = async () => {
    const connection = await instance.connect();
    connections.push(connection);
    return {
      async run(sql) {
        const result = await connection.runAndReadAll(sql);
        if (result.columnCount === 1 && result.columnName(0) === 'Count') return { count: result.rowsChanged };
        return { rows: result.getRows().map((row) => row.map(text)), count: result.rowsChanged };
      },
    };
  };
  const close = async () => {
    for (const connection of connections) connection.closeSync();
  };
  return { session, close };
}`,
};

const sqlite: NodeDriver = {
  packages: ['libsql'],
  argument: '',
  code: `${temporaryImports}
import Database from 'libsql';
${temporary}
async function open() {
  const databases = [];
  const session = async () => {
    const database = new Database(file);
    if (databases.length === 0) database.exec('PRAGMA journal_mode = ' + settings.journal_mode);
    database.exec('PRAGMA busy_timeout = 0');
    databases.push(database);
    return {
      async run(sql) {
        const statement = database.prepare(sql);
        if (statement.reader) return { rows: statement.raw(true).safeIntegers(true).all().map((row) => row.map(text)) };
        // The driver never resets a prepared statement that failed with SQLITE_BUSY; what exec runs is finalized at once.
        database.exec(sql);
        return { count: database.prepare('SELECT changes()').raw(true).all()[0][0] };
      },
    };
  };
  const close = async () => {
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { session, close };
}`,
};

const turso: NodeDriver = {
  packages: ['@tursodatabase/database'],
  argument: '',
  code: `${temporaryImports}
import { connect } from '@tursodatabase/database';
${temporary}
async function open() {
  const databases = [];
  const session = async () => {
    const database = await connect(file);
    if (databases.length === 0 && settings.journal_mode === 'mvcc') {
      await (await database.prepare("PRAGMA journal_mode = 'mvcc'")).all();
    }
    databases.push(database);
    return {
      async run(sql) {
        const statement = await database.prepare(sql);
        try {
          if (statement.columns().length === 0) return { count: (await statement.run()).changes };
          statement.raw(true);
          statement.safeIntegers(true);
          return { rows: (await statement.all()).map((row) => row.map(text)) };
        } finally {
          statement.close();
        }
      },
    };
  };
  const close = async () => {
    for (const database of databases) await database.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { session, close };
}`,
};

export const nodeDrivers: Readonly<Record<string, NodeDriver>> = {
  postgres,
  cockroach: postgres,
  mysql,
  mariadb: mysql,
  tidb: mysql,
  duckdb,
  sqlite,
  turso,
};
