/**
 * What running a case costs beyond the driver: the free executor against a bare loop on the same driver and
 * server, the scheduled executor's addition per statement, and a reset's time. Bare loops and executors take
 * turns, and the median of several turns is compared: the machine is noisy, ratios within one run are not.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import type { Case, ScheduledCase, StatementRef } from '../cases/index.js';
import { runFree, runScheduled, SessionPool } from '../execute/index.js';
import { openTarget, type Target } from '../targets/index.js';
import { startMariadbServer } from '../targets/mariadb/index.js';
import { startPostgresServer } from '../targets/postgres/index.js';
import { type Figure, median, timeMs } from './measure.js';

const sessionCount = 8;
const rounds = 7;

/** What a reset is measured on. */
const resetSetup = ['a', 'b', 'c'].flatMap((table) => [
  `CREATE TABLE ${table} (id INT PRIMARY KEY, v INT)`,
  `INSERT INTO ${table} VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50)`,
]);

/** What the loops run on: a row for each session. */
const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
  `INSERT INTO t VALUES ${Array.from({ length: sessionCount }, (_, s) => `(${s}, 0)`).join(', ')}`,
];

/** A session's program: reads of any row and writes of its own, autocommitted, so that nobody waits. */
function statementsOf(session: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    i % 2 === 0
      ? `SELECT id, v FROM t WHERE id = ${i % sessionCount}`
      : `UPDATE t SET v = ${i} WHERE id = ${session}`,
  );
}

function programOf(count: number): Case {
  const sessions = Array.from({ length: sessionCount }, (_, s) => ({
    name: `T${s + 1}`,
    statements: statementsOf(s, count),
  }));
  return { name: 'bench', setup, sessions };
}

/** Something that runs one statement and reads its rows: a bare connection of the engine's driver. */
interface BareConnection {
  run(sql: string): Promise<unknown>;
}

interface Engine {
  readonly name: string;
  readonly target: Target;
  /** Connections of the bare driver to a namespace that holds the same tables. */
  readonly bare: readonly BareConnection[];
  readonly statements: number;
  readonly resetLimitMs?: number;
  close(): Promise<void>;
}

/** Measures all engines and returns the figures of the issue. */
export async function benchExecute(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const open of [openPostgres, openMariadb, openDuckdb]) {
    const engine = await open();
    try {
      figures.push(...(await benchEngine(engine)));
    } finally {
      await engine.close();
    }
  }
  return figures;
}

async function benchEngine(engine: Engine): Promise<Figure[]> {
  const { target, bare, name } = engine;
  const scratch = await target.createScratch();
  const sessions = new SessionPool(scratch, { statementTimeoutMs: 10_000, lockTimeoutMs: 5_000 });
  try {
    const free = await compareFree(engine, (program) => runFree(scratch, program, { target, sessions }));
    const added = await compareScheduled(engine, (scheduled) =>
      runScheduled(scratch, scheduled, { target, sessions }),
    );
    const resets: number[] = [];
    for (let i = 0; i < 30; i++) resets.push(await timeMs(() => scratch.reset(resetSetup)));
    const resetMs = median(resets);
    return [
      {
        name: `${name}: free executor ÷ bare loop, ${bare.length} sessions`,
        measured: `${(free.ratio * 100).toFixed(0)} % (${free.perSecond.toFixed(0)} statements/s)`,
        target: '≥ 85 %',
        pass: free.ratio >= 0.85,
      },
      {
        name: `${name}: scheduled executor adds per statement`,
        measured: `${added.toFixed(3)} ms`,
        target: '≤ 0.3 ms',
        pass: added <= 0.3,
      },
      {
        name: `${name}: reset, 3 tables × 5 rows`,
        measured: `${resetMs.toFixed(2)} ms`,
        ...(engine.resetLimitMs === undefined
          ? undefined
          : { target: `≤ ${engine.resetLimitMs} ms`, pass: resetMs <= engine.resetLimitMs }),
      },
    ];
  } finally {
    await sessions.close();
    await scratch.drop();
  }
}

async function compareFree(engine: Engine, run: (program: Case) => Promise<unknown>) {
  const program = programOf(engine.statements);
  const empty: Case = { ...program, sessions: program.sessions.map((s) => ({ ...s, statements: [] })) };
  const bareMs: number[] = [];
  const ownMs: number[] = [];
  await run(program);
  await bareLoop(engine, program);
  for (let i = 0; i < rounds; i++) {
    bareMs.push(await timeMs(() => bareLoop(engine, program)));
    // A run also resets the scratch, which a bare loop does not.
    const fixedMs = await timeMs(() => run(empty));
    ownMs.push((await timeMs(() => run(program))) - fixedMs);
  }
  const own = median(ownMs);
  return { ratio: median(bareMs) / own, perSecond: (engine.statements * sessionCount * 1000) / own };
}

function bareLoop(engine: Engine, program: Case): Promise<unknown> {
  return Promise.all(
    engine.bare.map(async (connection, s) => {
      for (const sql of program.sessions[s]!.statements) await connection.run(sql);
    }),
  );
}

/** Milliseconds that sending one after another by schedule costs more than a bare loop doing the same. */
async function compareScheduled(
  engine: Engine,
  run: (scheduled: ScheduledCase) => Promise<unknown>,
): Promise<number> {
  const program = programOf(Math.ceil(engine.statements / 8));
  const order: StatementRef[] = program.sessions[0]!.statements.flatMap((_, p) =>
    program.sessions.map((_session, s): StatementRef => [s, p]),
  );
  const scheduled: ScheduledCase = { case: program, schedule: { batches: order.map((ref) => [ref]) } };
  const empty: ScheduledCase = {
    case: { ...program, sessions: program.sessions.map((s) => ({ ...s, statements: [] })) },
    schedule: { batches: [] },
  };
  const added: number[] = [];
  await run(scheduled);
  for (let i = 0; i < rounds; i++) {
    const bareMs = await timeMs(async () => {
      for (const [s, p] of order) await engine.bare[s]!.run(program.sessions[s]!.statements[p]!);
    });
    const fixedMs = await timeMs(() => run(empty));
    const ownMs = (await timeMs(() => run(scheduled))) - fixedMs;
    added.push((ownMs - bareMs) / order.length);
  }
  return median(added);
}

async function openPostgres(): Promise<Engine> {
  const server = await startPostgresServer({ settings: {}, startTimeoutMs: 30_000 });
  const { user, password } = server.login;
  const url = `postgres://${user}:${encodeURIComponent(password)}@${server.host}:${server.port}/postgres`;
  const target = await openTarget(url);
  const { default: pg } = await import('pg');
  const clients = await Promise.all(
    Array.from({ length: sessionCount }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );
  await clients[0]!.query(['CREATE SCHEMA bare', 'SET search_path = bare', ...setup].join(';'));
  for (const client of clients) await client.query('SET search_path = bare');
  return {
    name: `PostgreSQL ${target.stamp.version}`,
    target,
    bare: clients.map((client) => ({ run: (text) => client.query({ text, rowMode: 'array' }) })),
    statements: 600,
    resetLimitMs: 5,
    async close() {
      await Promise.all(clients.map((client) => client.end()));
      await target.close();
      await server.stop();
    },
  };
}

async function openMariadb(): Promise<Engine> {
  const server = await startMariadbServer();
  const { user, socket } = server.address;
  const target = await openTarget(`mariadb://${user}@localhost/?socket=${encodeURIComponent(socket ?? '')}`);
  const { createConnection } = await import('mysql2/promise');
  const login = { user, ...(socket === undefined ? undefined : { socketPath: socket }) };
  const clients = await Promise.all(
    Array.from({ length: sessionCount }, () => createConnection({ ...login, rowsAsArray: true })),
  );
  await clients[0]!.query('CREATE DATABASE bare');
  for (const client of clients) await client.query('USE bare');
  for (const sql of setup) await clients[0]!.query(sql);
  return {
    name: `MariaDB ${target.stamp.version}`,
    target,
    bare: clients.map((client) => ({ run: (sql) => client.query(sql) })),
    statements: 600,
    resetLimitMs: 10,
    async close() {
      await Promise.all(clients.map((client) => client.end()));
      await target.close();
      await server.stop();
    },
  };
}

async function openDuckdb(): Promise<Engine> {
  const target = await openTarget('duckdb:');
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const clients = await Promise.all(Array.from({ length: sessionCount }, () => instance.connect()));
  for (const sql of setup) await clients[0]!.run(sql);
  return {
    name: `DuckDB ${target.stamp.version}`,
    target,
    bare: clients.map((client) => ({
      run: async (sql) => (await client.runAndReadAll(sql)).getRowsJS(),
    })),
    statements: 200,
    async close() {
      for (const client of clients) client.closeSync();
      await target.close();
    },
  };
}
