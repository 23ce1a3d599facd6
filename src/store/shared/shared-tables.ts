/**
 * The tables of a shared store. They hold what a bug's folder holds, file by file; reports and exports follow from it and are written
 * when a bug is exported.
 *
 *     bugs        one row a bug, unique by engine and signature; `record` is bug.json
 *     bug_files   case.case.json, finding.json, confirmed.history.jsonl, raw.history.jsonl.gz
 *     bug_runs    the lines of runs.jsonl
 *     ignored     ignore.json
 *
 * Everything lies in one schema, `isolde_shared`; nothing else of the database is touched. A set of tables has a version, which is refused
 * when it is not ours, never converted silently.
 */
import { IsoldeError } from '../../errors.js';
import type { SharedDatabase, Sql } from './shared-database.js';

export const sharedSchema = 'isolde_shared';

/** Tables that belong together. */
export interface TableSet {
  readonly format: string;
  readonly version: number;
  /** Statements that make what is missing. */
  readonly statements: readonly string[];
}

export const storeTables: TableSet = {
  format: 'isolde-store',
  version: 1,
  statements: [
    `CREATE TABLE IF NOT EXISTS isolde_shared.bugs (
      id text PRIMARY KEY,
      engine text NOT NULL,
      signature text NOT NULL,
      signed_by integer,
      record text NOT NULL,
      UNIQUE (engine, signature)
    )`,
    `CREATE TABLE IF NOT EXISTS isolde_shared.bug_files (
      bug text NOT NULL REFERENCES isolde_shared.bugs,
      name text NOT NULL,
      content bytea NOT NULL,
      PRIMARY KEY (bug, name)
    )`,
    `CREATE TABLE IF NOT EXISTS isolde_shared.bug_runs (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      bug text NOT NULL REFERENCES isolde_shared.bugs,
      line text NOT NULL
    )`,
    'CREATE INDEX IF NOT EXISTS bug_runs_bug ON isolde_shared.bug_runs (bug, number)',
    `CREATE TABLE IF NOT EXISTS isolde_shared.ignored (
      what text PRIMARY KEY,
      since text NOT NULL,
      reason text
    )`,
  ],
};

/** Two who make the tables at the same moment take turns. */
const lockNumber = 0x150_1de;

/** Makes tables that are missing; a role that may not is told who can. */
export async function prepareTables(database: SharedDatabase, set: TableSet): Promise<void> {
  if (await isThere(database, set)) return;
  await database.transaction(async (sql) => {
    await sql.query(`SELECT pg_advisory_xact_lock(${lockNumber})`);
    await sql.query(`CREATE SCHEMA IF NOT EXISTS ${sharedSchema}`);
    await sql.query(`CREATE TABLE IF NOT EXISTS ${sharedSchema}.about (
      format text PRIMARY KEY,
      version integer NOT NULL
    )`);
    for (const statement of set.statements) await sql.query(statement);
    await sql.query(`INSERT INTO ${sharedSchema}.about VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
      set.format,
      set.version,
    ]);
  });
}

async function isThere(database: SharedDatabase, { format, version }: TableSet): Promise<boolean> {
  const found = await database.transaction(async (sql: Sql) => {
    const [made] = await sql.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
      `${sharedSchema}.about`,
    ]);
    if (made?.there !== true) return undefined;
    const rows = await sql.query<{ version: number }>(
      `SELECT version FROM ${sharedSchema}.about WHERE format = $1`,
      [format],
    );
    return rows[0]?.version;
  });
  if (found === undefined || found === version) return found !== undefined;
  throw new IsoldeError(
    'bad-file',
    `the tables ${format} in ${database.shown} have version ${found}; this Isolde reads version ${version}`,
  );
}
