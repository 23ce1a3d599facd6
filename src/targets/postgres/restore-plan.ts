/**
 * Putting the data of a set-up back without building it again, in one round trip.
 *
 * After a set-up ran, every table is copied into a second schema. Restoring then is one transaction: delete, insert
 * from the copy, set the sequences back, and read a fingerprint of the catalogue. The fingerprint changes with any
 * DDL since; then the set-up has to run again, and so it has when restoring fails.
 *
 * DELETE takes a tenth of TRUNCATE's time on small tables, but leaves dead rows behind: when enough have gathered,
 * and always for large tables, TRUNCATE is used. Until then rows stand in the order of insertion, because autovacuum is
 * kept off these tables: which row a scan meets first decides who waits for whom, and should not change between runs.
 */
import { quoteIdentifier, quoteText } from '../../sql/index.js';
import type { WireReply } from './wire-connection.js';

export interface RestorePlan {
  /** One text that restores the data; its result is the fingerprint. */
  restore(how: 'delete' | 'truncate'): string;
  readonly fingerprint: string;
  readonly rowCount: number;
}

export interface PlanContext {
  readonly namespace: string;
  readonly copies: string;
  /** We may switch triggers and foreign-key checks off; otherwise data is restored in the order of the keys. */
  readonly maySkipTriggers: boolean;
  /** `180004` */
  readonly versionNumber: number;
  /** Runs a text and returns its last result; rejects when it fails. */
  run(sql: string): Promise<WireReply>;
}

interface SavedTable {
  readonly oid: number;
  /** Qualified and quoted. */
  readonly name: string;
  readonly columns: string;
  readonly copy: string;
}

/** Saves what the schema holds now. undefined: it holds something that can only be built, not restored. */
export async function saveState(context: PlanContext): Promise<RestorePlan | undefined> {
  if (await hasUnrestorable(context)) return undefined;
  const tables = await orderTables(context, await listTables(context));
  if (tables === undefined) return undefined;
  const sequences = await readSequences(context);
  const rowCount = await copyTables(context, tables);
  const fingerprint = fingerprintSql(context, tables);
  const { rows } = await context.run(fingerprint);
  return {
    restore: (how) => restoreSql(context, tables, sequences, how) + fingerprint,
    fingerprint: String(rows?.[0]?.[0]),
    rowCount,
  };
}

/** Contents that are not a table's, and tables that change what is inserted into them. */
async function hasUnrestorable({ namespace, maySkipTriggers, run }: PlanContext): Promise<boolean> {
  const inNamespace = `c.relnamespace = ${quoteText(namespace, 'postgres')}::regnamespace`;
  const firing = maySkipTriggers ? `g.tgenabled IN ('R', 'A')` : 'true';
  const { rows } = await run(`SELECT
    EXISTS (SELECT FROM pg_class c WHERE ${inNamespace} AND (c.relkind IN ('m', 'f')
      OR c.relkind = 'r' AND (c.relhasrules OR c.relforcerowsecurity OR c.relnatts = 0)))
    OR EXISTS (SELECT FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
      WHERE ${inNamespace} AND NOT g.tgisinternal AND ${firing})`);
  return rows?.[0]?.[0] === true;
}

async function listTables({ namespace, copies, versionNumber, run }: PlanContext): Promise<SavedTable[]> {
  const stored = versionNumber >= 120_000 ? `a.attgenerated = ''` : 'true';
  const { rows = [] } = await run(`SELECT c.oid, c.relname,
      (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND ${stored})
    FROM pg_class c
    WHERE c.relnamespace = ${quoteText(namespace, 'postgres')}::regnamespace AND c.relkind = 'r' ORDER BY c.oid`);
  return rows.map(([oid, name, columns], index) => ({
    oid: Number(oid),
    name: qualified(namespace, String(name)),
    columns: String(columns ?? ''),
    copy: qualified(copies, `t${index}`),
  }));
}

/** Referenced tables first. undefined: foreign keys form a circle that we may not switch off. */
async function orderTables(
  { maySkipTriggers, run }: PlanContext,
  tables: readonly SavedTable[],
): Promise<readonly SavedTable[] | undefined> {
  // A table whose columns are all generated has nothing to insert.
  if (tables.some(({ columns }) => columns === '')) return undefined;
  if (maySkipTriggers || tables.length === 0) return tables;
  const { rows = [] } = await run(`SELECT conrelid, confrelid FROM pg_constraint
    WHERE contype = 'f' AND conrelid <> confrelid AND conrelid = ANY('{${tables.map(({ oid }) => oid)}}')`);
  const ordered: SavedTable[] = [];
  const placed = new Set<number>();
  const known = new Set(tables.map(({ oid }) => oid));
  while (ordered.length < tables.length) {
    const next = tables.find(
      ({ oid }) =>
        !placed.has(oid) &&
        rows.every(([from, to]) => from !== oid || !known.has(Number(to)) || placed.has(Number(to))),
    );
    if (next === undefined) return undefined;
    placed.add(next.oid);
    ordered.push(next);
  }
  return ordered;
}

/** The calls that set every sequence back. */
async function readSequences({ namespace, run }: PlanContext): Promise<readonly string[]> {
  const { rows = [] } = await run(`SELECT relname FROM pg_class
    WHERE relnamespace = ${quoteText(namespace, 'postgres')}::regnamespace AND relkind = 'S' ORDER BY oid`);
  const calls: string[] = [];
  for (const [relname] of rows) {
    const name = qualified(namespace, String(relname));
    const state = (await run(`SELECT last_value::text, is_called FROM ${name}`)).rows?.[0];
    calls.push(`setval(${quoteText(name, 'postgres')}, ${String(state?.[0])}, ${String(state?.[1])})`);
  }
  return calls;
}

async function copyTables({ run }: PlanContext, tables: readonly SavedTable[]): Promise<number> {
  let rowCount = 0;
  for (const { name, columns, copy } of tables) {
    await run(`CREATE TABLE ${copy} AS SELECT ${columns} FROM ONLY ${name}`);
    await run(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
    rowCount += Number((await run(`SELECT count(*) FROM ${copy}`)).rows?.[0]?.[0]);
  }
  return rowCount;
}

function restoreSql(
  { maySkipTriggers }: PlanContext,
  tables: readonly SavedTable[],
  sequences: readonly string[],
  how: 'delete' | 'truncate',
): string {
  const names = tables.map(({ name }) => name);
  const emptying =
    how === 'truncate' && names.length > 0
      ? [`TRUNCATE ONLY ${names.join(', ONLY ')}`]
      : names.toReversed().map((name) => `DELETE FROM ONLY ${name}`);
  return [
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    maySkipTriggers ? 'SET LOCAL session_replication_role = replica' : 'SET CONSTRAINTS ALL DEFERRED',
    ...emptying,
    ...tables.map(
      ({ name, columns, copy }) =>
        `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${copy}`,
    ),
    ...(sequences.length === 0 ? [] : [`SELECT ${sequences.join(', ')}`]),
    'COMMIT',
    '',
  ].join(';');
}

/**
 * Everything that depends on the schema, by number, and the row versions of the catalogue entries that DDL on these
 * tables rewrites. All through indexes, so a database with many tables of the user's costs nothing.
 */
function fingerprintSql({ namespace }: PlanContext, tables: readonly SavedTable[]): string {
  const oids = `ANY('{${tables.map(({ oid }) => oid)}}'::oid[])`;
  const parts = [
    `SELECT concat_ws('.', d.classid, d.objid, p.xmin, s.xmin, r.relname) AS part FROM pg_depend d
      LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
      LEFT JOIN pg_class r ON d.classid = 'pg_class'::regclass AND r.oid = d.objid
      LEFT JOIN pg_sequence s ON s.seqrelid = r.oid
      WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = to_regnamespace(${quoteText(namespace, 'postgres')})`,
    `SELECT concat_ws('.', 'a', attrelid, attnum, xmin) FROM pg_attribute WHERE attrelid = ${oids}`,
    `SELECT concat_ws('.', 'c', oid, xmin) FROM pg_constraint WHERE conrelid = ${oids}`,
    `SELECT concat_ws('.', 'g', oid, xmin) FROM pg_trigger WHERE tgrelid = ${oids}`,
    `SELECT concat_ws('.', 'd', oid, xmin) FROM pg_attrdef WHERE adrelid = ${oids}`,
    `SELECT concat_ws('.', 'i', indexrelid, xmin) FROM pg_index WHERE indrelid = ${oids}`,
    `SELECT concat_ws('.', 'p', oid, xmin) FROM pg_policy WHERE polrelid = ${oids}`,
    `SELECT concat_ws('.', 'r', oid, xmin) FROM pg_rewrite WHERE ev_class = ${oids}`,
    `SELECT concat_ws('.', 'o', oid, relrowsecurity, relpersistence, relreplident, reloptions) FROM pg_class WHERE oid = ${oids}`,
  ];
  return `SELECT md5(string_agg(part, ' ' ORDER BY part)) FROM (${parts.join(' UNION ALL ')}) parts`;
}

function qualified(namespace: string, name: string): string {
  return `${namespace}.${quoteIdentifier(name, 'postgres')}`;
}
