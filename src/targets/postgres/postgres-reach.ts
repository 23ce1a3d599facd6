/**
 * What a login may change besides schemas of Isolde's, asked of the server's own catalogue: one query per way to do harm, each
 * naming the first object it finds. Roles the login is a member of count too, for SET ROLE takes them on.
 *
 * Not asked is what every login may do to itself, and what CREATE on the database allows, which Isolde needs: such statements are not sent
 * (`postgres-guard.ts`). Nor can it be asked what the functions of installed extensions do.
 */
import type { TargetReach } from '../target.js';
import type { ServerAddress } from './postgres-url.js';
import type { WireConnection } from './wire-connection.js';

const roles = `(SELECT * FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER'))`;
const foreign = `n.nspname NOT LIKE 'isolde\\_%' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`;
/** They look, and change nothing. */
const lookers = `('pg_monitor', 'pg_read_all_settings', 'pg_read_all_stats', 'pg_stat_scan_tables', 'pg_read_all_data')`;

interface Question {
  /** Its answer completes "user x …". */
  readonly sql: string;
  /** The first version that knows what is asked about. */
  readonly since?: number;
}

const questions: readonly Question[] = [
  { sql: `SELECT 'is a superuser' FROM me WHERE rolsuper` },
  {
    sql: `SELECT 'may ' || concat_ws(', ', CASE WHEN rolcreaterole THEN 'create roles' END, CASE WHEN rolcreatedb THEN 'create databases' END,
     CASE WHEN rolreplication THEN 'replicate' END, CASE WHEN rolbypassrls THEN 'bypass row security' END)
   FROM me WHERE rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls`,
  },
  {
    // In this database or of the whole server: databases, tablespaces, functions, types, large objects, publications.
    sql: `SELECT 'owns ' || o.type || ' ' || o.identity FROM pg_shdepend s JOIN me ON s.refclassid = 'pg_authid'::regclass AND s.refobjid = me.oid,
     pg_identify_object(s.classid, s.objid, s.objsubid) o
   WHERE s.deptype = 'o' AND s.dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
     AND coalesce(o.schema, CASE o.type WHEN 'schema' THEN o.name END, '') !~ '^(isolde_|pg_temp|pg_toast)'`,
  },
  {
    sql: `SELECT 'is a member of ' || rolname FROM me WHERE rolname ~ '^pg_' AND rolname NOT IN ${lookers}`,
  },
  {
    sql: `SELECT 'may create objects in schema ' || n.nspname FROM pg_namespace n, me
   WHERE ${foreign} AND has_schema_privilege(me.oid, n.oid, 'CREATE')`,
  },
  {
    sql: `SELECT 'may change ' || c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, me
   WHERE ${foreign} AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (
     has_table_privilege(me.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
     OR has_any_column_privilege(me.oid, c.oid, 'INSERT, UPDATE, REFERENCES'))`,
  },
  {
    since: 170_000,
    sql: `SELECT 'may maintain ' || c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, me
   WHERE ${foreign} AND c.relkind IN ('r', 'p', 'm') AND has_table_privilege(me.oid, c.oid, 'MAINTAIN')`,
  },
  {
    sql: `SELECT 'may change ' || c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, me
   WHERE ${foreign} AND c.relkind = 'S' AND has_sequence_privilege(me.oid, c.oid, 'USAGE, UPDATE')`,
  },
  {
    sql: `SELECT 'may call ' || p.oid::regprocedure || ', which runs with the rights of its owner'
   FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace, me
   WHERE ${foreign} AND p.prosecdef AND has_schema_privilege(me.oid, n.oid, 'USAGE') AND has_function_privilege(me.oid, p.oid, 'EXECUTE')`,
  },
  {
    // Functions of the server that not everybody may call.
    sql: `SELECT 'may call ' || p.oid::regprocedure FROM pg_proc p, aclexplode(p.proacl) a, me
   WHERE p.pronamespace = 'pg_catalog'::regnamespace AND a.grantee = me.oid AND me.rolname NOT IN ${lookers}`,
  },
  {
    sql: `SELECT 'may use the foreign server ' || srvname FROM pg_foreign_server s, me WHERE has_server_privilege(me.oid, s.oid, 'USAGE')`,
  },
  {
    sql: `SELECT 'may create foreign servers with ' || fdwname FROM pg_foreign_data_wrapper w, me
   WHERE has_foreign_data_wrapper_privilege(me.oid, w.oid, 'USAGE')`,
  },
  {
    sql: `SELECT 'may change large object ' || l.oid FROM pg_largeobject_metadata l, aclexplode(l.lomacl) a, me
   WHERE a.privilege_type = 'UPDATE' AND a.grantee IN (0, me.oid)`,
  },
  {
    since: 150_000,
    sql: `SELECT 'may change the setting ' || parname || ' of the server' FROM pg_parameter_acl, aclexplode(paracl) a, me
   WHERE a.privilege_type = 'ALTER SYSTEM' AND a.grantee IN (0, me.oid)`,
  },
];

/** Asks about the login of this connection. */
export async function readReach(
  connection: WireConnection,
  { user, database }: Pick<ServerAddress, 'user' | 'database'>,
  versionNumber: number,
): Promise<TargetReach> {
  // Before version 12 it always is, and the word is not known.
  const once = versionNumber >= 120_000 ? 'MATERIALIZED' : '';
  for (const { sql, since = 0 } of questions) {
    if (versionNumber < since) continue;
    const { rows, error } = await connection.execute(`WITH me AS ${once} ${roles} ${sql} LIMIT 1`);
    const found = error === undefined ? rows?.[0]?.[0] : `cannot be asked about (${error.message})`;
    if (found !== undefined) return beyond(`user "${user}" ${String(found)}`, user, database);
  }
  return { kind: 'scratch' };
}

function beyond(why: string, user: string, database: string): TargetReach {
  const role = quoted(user === 'postgres' ? 'isolde' : `${user}_cases`);
  return {
    kind: 'beyond',
    why,
    advice: [
      'Make a role that may not, and use it in the URL:',
      `  CREATE ROLE ${role} LOGIN PASSWORD '…';`,
      `  GRANT CREATE ON DATABASE ${quoted(database)} TO ${role};`,
      '  REVOKE CREATE ON SCHEMA public FROM PUBLIC;  -- before PostgreSQL 15 everybody may',
    ].join('\n'),
  };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
