/**
 * What a login may change besides schemas of Isolde's, asked of the server's own catalogue: one query per way to do harm, each
 * naming the first object it finds. Roles the login is a member of count too, for SET ROLE takes them on.
 *
 * Not counted is CREATE on the database, which Isolde needs: with it a case can make further schemas, but change none that exist.
 */
import type { TargetReach } from '../target.js';
import type { ServerAddress } from './postgres-url.js';
import type { WireConnection } from './wire-connection.js';

const roles = `me AS MATERIALIZED (SELECT * FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER'))`;
const foreign = `n.nspname NOT LIKE 'isolde\\_%' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`;

/** Each returns the words that complete "user x …". */
const questions: readonly string[] = [
  `SELECT 'is a superuser' FROM me WHERE rolsuper`,
  `SELECT 'may ' || concat_ws(', ', CASE WHEN rolcreaterole THEN 'create roles' END, CASE WHEN rolcreatedb THEN 'create databases' END,
     CASE WHEN rolreplication THEN 'replicate' END, CASE WHEN rolbypassrls THEN 'bypass row security' END)
   FROM me WHERE rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls`,
  `SELECT 'is a member of ' || rolname FROM me WHERE rolname ~ '^pg_' AND rolname NOT IN
     ('pg_monitor', 'pg_read_all_settings', 'pg_read_all_stats', 'pg_stat_scan_tables', 'pg_read_all_data')`,
  `SELECT 'owns the database' FROM pg_database d JOIN me ON d.datdba = me.oid WHERE d.datname = current_database()`,
  `SELECT 'may create objects in schema ' || n.nspname FROM pg_namespace n, me
   WHERE ${foreign} AND has_schema_privilege(me.oid, n.oid, 'CREATE')`,
  `SELECT 'may change ' || c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, me
   WHERE ${foreign} AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (c.relowner = me.oid
     OR has_table_privilege(me.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
     OR has_any_column_privilege(me.oid, c.oid, 'INSERT, UPDATE, REFERENCES'))`,
  `SELECT 'may change ' || c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, me
   WHERE ${foreign} AND c.relkind = 'S' AND (c.relowner = me.oid OR has_sequence_privilege(me.oid, c.oid, 'USAGE, UPDATE'))`,
  `SELECT 'may call ' || p.oid::regprocedure || ', which runs with the rights of its owner'
   FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace, me
   WHERE ${foreign} AND p.prosecdef AND has_schema_privilege(me.oid, n.oid, 'USAGE') AND has_function_privilege(me.oid, p.oid, 'EXECUTE')`,
  `SELECT 'may use the foreign server ' || srvname FROM pg_foreign_server s, me WHERE has_server_privilege(me.oid, s.oid, 'USAGE')`,
  `SELECT 'owns large objects' FROM pg_largeobject_metadata l JOIN me ON l.lomowner = me.oid`,
];

/** Asks about the login of this connection. */
export async function readReach(
  connection: WireConnection,
  { user, database }: Pick<ServerAddress, 'user' | 'database'>,
): Promise<TargetReach> {
  for (const question of questions) {
    const { rows, error } = await connection.execute(`WITH ${roles} ${question} LIMIT 1`);
    const found = error === undefined ? rows?.[0]?.[0] : `cannot be asked about (${error.message})`;
    if (found !== undefined) return beyond(`user "${user}" ${String(found)}`, user, database);
  }
  return { kind: 'scratch' };
}

function beyond(why: string, user: string, database: string): TargetReach {
  const name = user === 'postgres' ? 'isolde' : `${user}_cases`;
  return {
    kind: 'beyond',
    why,
    advice: [
      'Make a role that may not, and use it in the URL:',
      `  CREATE ROLE "${name}" LOGIN PASSWORD '…';`,
      `  GRANT CREATE ON DATABASE "${database}" TO "${name}";`,
      '  REVOKE CREATE ON SCHEMA public FROM PUBLIC;  -- before PostgreSQL 15 everybody may',
    ].join('\n'),
  };
}
