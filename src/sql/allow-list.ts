/**
 * Which SQL may be taken over from somebody else: an allow-list, because the ways to do harm cannot be listed.
 *
 * A statement passes when all of it was understood and nothing in it reaches beyond the tables of its own namespace:
 *
 * 1. It is one statement that the parser read to its end: a query, a write, CREATE TABLE or INDEX, DROP, transaction control; or
 *    TRUNCATE of one table; or a SET of the isolation level or of autocommit.
 * 2. Its names are unqualified, look like names (`'file.csv'` does not) and are not those of a catalogue.
 * 3. Its functions are known to do nothing but compute.
 * 4. What the tree keeps as text (types, table options, hints) consists of plain words.
 * 5. No comment is executable (MySQL runs what stands in one that begins with an exclamation mark), no character is invisible to the reader of a terminal.
 *
 * It cannot see how the server is set up: a string may end elsewhere under another `sql_mode`. So it stands on top of a login
 * that may do no harm (`targets/admit.ts`), not in its place.
 */
import type { Statement } from './ast.js';
import type { Dialect } from './dialect.js';
import { type Token, tokenize } from './lexer.js';
import { parseStatement } from './parse/parse.js';

/** Functions that compute from their arguments, or tell about the own session, in any of the dialects. */
const knownFunctions: ReadonlySet<string> = new Set(
  `abs acos age any_value array_agg array_length ascii asin atan atan2 avg bit_and bit_count bit_length bit_or bit_xor bool_and
  bool_or btrim ceil ceiling char char_length character_length chr coalesce concat concat_ws connection_id convert cos cot count
  cume_dist curdate current_database current_date current_schema current_time current_timestamp current_user curtime database date
  date_add date_diff date_format date_part date_sub date_trunc datediff datetime day dayname dayofmonth dayofweek dayofyear degrees
  dense_rank div elt every exp extract field find_in_set first first_value floor format found_rows gcd gen_random_uuid generate_series
  greatest group_concat grouping hex hour if ifnull iif instr int4range isnull json json_agg json_array json_array_length json_arrayagg
  json_build_object json_contains json_each json_extract json_group_array json_group_object json_insert json_length json_object
  json_objectagg json_quote json_remove json_replace json_set json_type json_valid jsonb_agg jsonb_build_object julianday lag last
  last_insert_id last_insert_rowid last_value lcase lcm lead least left length ln localtime localtimestamp locate log log10 log2 lower
  lpad ltrim make_date max md5 median microsecond mid min minute mod mode month monthname name_const now nth_value ntile nullif
  octet_length oct ord overlay percent_rank pg_backend_pid pg_current_xact_id pg_sleep pg_typeof pi position pow power printf
  quarter quote radians rand random range rank regexp_matches regexp_replace repeat replace reverse right round row row_count
  row_number row_to_json rowid rpad rtrim schema second session_user sha1 sha2 sign sin sleep soundex space split_part sqlite_version
  sqrt stddev stddev_pop stddev_samp str_to_date strcmp strftime string_agg string_to_array strpos substr substring substring_index sum sysdate tan
  time timediff timestamp timestampadd timestampdiff to_char to_date to_hex to_number to_timestamp today total total_changes changes
  translate trim trunc truncate txid_current typeof ucase unhex unicode unix_timestamp unixepoch unnest upper user utc_date utc_time
  utc_timestamp uuid values var_pop var_samp variance version week weekday weekofyear width_bucket year zeroblob`.split(
    /\s+/,
  ),
);

/** Catalogues and other tables that every namespace sees without a prefix. */
const catalogue =
  /^(pg_|sqlite_|libsql_|duckdb_|pragma_|information_schema|innodb_|mysql$|performance_schema|sys$|fsdir$|dbstat$)/i;
const plainName = /^[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*$/;
const allDialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

/** Why a statement is not on the allow-list, or undefined when it is. Without a dialect it must pass in all of them. */
export function findForbidden(sql: string, dialect?: Dialect): string | undefined {
  if (/[^\P{C}\t\n\r]|[\u2028\u2029]/u.test(sql)) return 'it has invisible characters';
  for (const each of dialect === undefined ? allDialects : [dialect]) {
    const problem = forbiddenIn(sql, each);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function forbiddenIn(sql: string, dialect: Dialect): string | undefined {
  const tokens = tokenize(sql, dialect).filter(({ kind }) => kind !== 'space');
  // Whichever reader takes it for code, the other may not.
  if (/\/\*\s*M?!/i.test(sql)) return 'it has an executable comment';
  const code = tokens.filter(({ kind }) => kind !== 'comment');
  if (code.some(({ text }) => text === ';')) return 'it is several statements in one';
  const statement = parseStatement(sql, dialect);
  if (statement.type === 'opaque') return forbiddenOpaque(statement.kind, code, statement.reason);
  return forbiddenNode(statement);
}

const isolation = 'ISOLATION LEVEL (READ UNCOMMITTED|READ COMMITTED|REPEATABLE READ|SERIALIZABLE|SNAPSHOT)';
const access = '(,? ?(READ ONLY|READ WRITE|(NOT )?DEFERRABLE))*';
const allowedTexts: readonly RegExp[] = [
  new RegExp(`^SET ((SESSION|LOCAL) )?TRANSACTION (${isolation}${access}|READ ONLY|READ WRITE)$`, 'i'),
  new RegExp(
    `^SET SESSION CHARACTERISTICS AS TRANSACTION (${isolation}${access}|READ ONLY|READ WRITE)$`,
    'i',
  ),
  /^SET ((SESSION|LOCAL|@ ?@ ?SESSION ?\.|@ ?@) ?)?AUTOCOMMIT (=|TO) ?(0|1|ON|OFF|TRUE|FALSE)$/i,
  /^SET ((SESSION|LOCAL|@ ?@ ?SESSION ?\.|@ ?@) ?)?(DEFAULT_TRANSACTION_ISOLATION|TRANSACTION_ISOLATION|TX_ISOLATION) (=|TO) ?'[A-Z -]+'$/i,
  // Which way the planner takes, for this session alone: hunts switch ways off.
  /^SET ENABLE_[A-Z]+ (=|TO) (ON|OFF)$/i,
  /^SET OPTIMIZER_SWITCH = '[A-Z_]+=(ON|OFF)(,[A-Z_]+=(ON|OFF))*'$/i,
  /^TRUNCATE (TABLE )?[A-Z_][A-Z0-9_]*( (RESTART IDENTITY|CONTINUE IDENTITY|CASCADE|RESTRICT))*$/i,
];

function forbiddenOpaque(kind: string, code: readonly Token[], reason: string): string | undefined {
  const text = code.map((token) => token.text).join(' ');
  if (allowedTexts.some((pattern) => pattern.test(text))) return undefined;
  if (kind === 'set')
    return 'it changes a setting other than the isolation level, autocommit and the planner’s switches';
  return `it is not a statement Isolde understands (${reason})`;
}

/** Fields that hold text the grammar did not take apart. */
const textFields: ReadonlySet<string> = new Set([
  'actions',
  'collation',
  'columnType',
  'frame',
  'method',
  'modifiers',
  'options',
  'tail',
  'to',
  'unit',
  'wait',
]);
const forbiddenWords =
  /\b(DATA|DIRECTORY|CONNECTION|TABLESPACE|LOCATION|SERVER|UNION|INHERITS|FILE\w*|OUTFILE|DUMPFILE|PROCEDURE|SOURCE|CONNECT|FEDERATED\w*|SPIDER|S3|CSV|USING\s+(?!BTREE|HASH)\w+\s*\()\b/i;

function forbiddenText(text: string): string | undefined {
  // A comment on a table or column, and a collation, may be quoted.
  const bare = text.replaceAll(/\b(COMMENT|COLLATE)\s*=?\s*('[^'\\]*'|"[\w.-]*")/gi, '$1');
  const odd = /[^\w\s,()=+*-]/u.exec(bare)?.[0];
  if (odd !== undefined) return `it has text Isolde does not understand (${JSON.stringify(text)})`;
  return forbiddenWords.test(bare) ? `it has an option that may reach files or other servers` : undefined;
}

type Node = Readonly<Record<string, unknown>>;

function forbiddenNode(node: Statement | Node): string | undefined {
  const own = forbiddenHere(node as Node);
  if (own !== undefined) return own;
  if ((node as Node).type === 'literal') return undefined;
  for (const [key, value] of Object.entries(node)) {
    if (typeof value === 'string' && textFields.has(key)) {
      const problem = forbiddenText(value);
      if (problem !== undefined) return problem;
    }
    for (const item of Array.isArray(value) ? value.flat() : [value]) {
      if (typeof item !== 'object' || item === null) continue;
      const problem = forbiddenNode(item as Node);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function forbiddenHere(node: Node): string | undefined {
  if (node.schema !== undefined) return `it names something in another namespace (${String(node.schema)})`;
  switch (node.type) {
    case 'raw':
    case 'other':
      return forbiddenText(String(node.sql));
    case 'parameter':
      return /^@[a-z_]\w*$/i.test(String(node.text)) ? undefined : 'it has a parameter that nobody gives';
    case 'call':
      return forbiddenCall(node);
    case 'table':
    case 'create-table':
      return forbiddenTable(String(node.name)) ?? forbiddenHint(node.hint);
    case 'core':
    case 'insert':
    case 'update':
    case 'delete':
      return forbiddenHint(node.hint);
    case 'references':
      return forbiddenTable(String((node.references as Node).table));
    case 'foreign-key':
      return forbiddenTable(String((node.references as Node).table));
    case 'drop': {
      const names = node.names as readonly { readonly name: string }[];
      return names.map(({ name }) => forbiddenTable(name)).find((problem) => problem !== undefined);
    }
    default:
      return undefined;
  }
}

function forbiddenCall(node: Node): string | undefined {
  const name = String(node.name);
  if (knownFunctions.has(name.toLowerCase())) return undefined;
  // A sequence of the own namespace, named by a plain text.
  const [first, ...more] = node.args as readonly Node[];
  if (/^(nextval|currval)$/i.test(name) && more.length === 0 && first?.type === 'literal') {
    return forbiddenTable(String(first.value));
  }
  return `its function ${name} is not on the list of those that only compute`;
}

function forbiddenTable(name: string): string | undefined {
  if (!plainName.test(name)) return `${JSON.stringify(name)} may be a file or a name of another namespace`;
  return catalogue.test(name) ? `${name} is a table of the system` : undefined;
}

/** A hint is a comment, an index list or a partition list. */
function forbiddenHint(hint: unknown): string | undefined {
  if (hint === undefined) return undefined;
  return forbiddenText(String(hint).replace(/^\/\*\+|\*\/$/g, ' '));
}
