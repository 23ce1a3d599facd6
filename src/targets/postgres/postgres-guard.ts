/**
 * What every PostgreSQL login may do beyond its scratch, whatever its rights, and what the rights that the scratch needs allow. The server
 * has no switch for these, so every statement is looked at.
 *
 * As with the engines in our own process (`embedded/engine-guard.ts`) the look needs no parser: keywords cannot be escaped, and a name can
 * only be with `U&"…"`, so whatever is used stands in the text by its letters. SQL that is put together while it runs has no letters to look
 * at: so the statements that run it (EXECUTE in a function, functions that take a query as text, languages other than SQL and
 * PL/pgSQL) are refused, too. A statement that merely mentions such words in a string is refused as well.
 */
import { type Guard, together, type WordRule } from '../refusal.js';

/** Most statements have none of these letters, and cost one search. */
const suspects =
  /u&"|alter|execute|language|lo_|lowrite|query_to_|ts_stat|ts_rewrite|dblink|crosstab|connectby|xpath_table|create|drop|reassign|grant|revoke|notify|prepare|pg_terminate|pg_cancel|emit_message/i;

const everywhere: readonly WordRule[] = [
  [/u&"/i, 'names with escapes cannot be looked at'],
  [together('alter', 'role|user|group'), 'it changes the login itself'],
  [together('default', 'privileges'), 'it changes the rights on what the login will create'],
  [/\blo_\w|\blowrite\b/i, 'large objects are outside of every schema'],
  [
    /\bquery_to_|\bts_stat\b|\bts_rewrite\b|\bdblink|\bcrosstab|\bconnectby\b|\bxpath_table\b/i,
    'it runs SQL from a text',
  ],
];

const onServers: readonly WordRule[] = [
  [together('create', 'schema|extension|publication'), 'what it makes would stay in the database'],
  [together('drop', 'owned'), 'it drops what the login owns, and its rights'],
  [/\breassign\b/i, 'it gives away what the login owns'],
  [/\b(?:grant|revoke)\b/i, 'it changes rights'],
  [/\b(?:pg_)?notify\b/i, 'other programs may listen'],
  [together('prepare', 'transaction'), 'a prepared transaction outlives its session'],
  [together('commit|rollback', 'prepared'), 'a prepared transaction may be another’s'],
  [/\bpg_(?:terminate|cancel)_backend\b/i, 'it ends sessions of others with the same login'],
  [/\bpg_logical_emit_message\b/i, 'it writes to the log that other servers read'],
];

/** Of triggers, and of statements that were prepared in plain text. */
const plainExecute =
  /\bexecute\s+(?:function|procedure)\s+[\w".]+\s*\(|^\s*execute\s+\w+\s*(?:\([^;$]*\))?\s*;?\s*$/gi;
const knownLanguage = /\blanguage\s+(?:sql|plpgsql|'sql'|'plpgsql')(?![\w'])/gi;

function refusedBy(rules: readonly WordRule[], sql: string): string | undefined {
  if (!suspects.test(sql)) return undefined;
  const rule = rules.find(([words]) => words.test(sql));
  if (rule !== undefined) return rule[1];
  if (/\bexecute\b/i.test(sql.replaceAll(plainExecute, '')))
    return 'it runs SQL that is put together at run time';
  return /\blanguage\b/i.test(sql.replaceAll(knownLanguage, ''))
    ? 'only SQL and PL/pgSQL can be looked at'
    : undefined;
}

const all = [...everywhere, ...onServers];

/** For a private server, where nobody else is. */
export const privateServerGuard: Guard = (sql) => refusedBy(everywhere, sql);

/** For a server of the user's. */
export const userServerGuard: Guard = (sql) => refusedBy(all, sql);
