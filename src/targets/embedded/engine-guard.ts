/**
 * What an engine inside our own process must not be asked to do, because it would do it with our rights.
 *
 * DuckDB takes most of that power away itself (`enable_external_access`, `lock_configuration`); what is left are calls that
 * write to our standard output or, once logging to a file is refused half-way, end the process. SQLite's driver and Turso offer
 * no such switch (the authorizer of `libsql` knows tables only), so for them every statement is looked at.
 *
 * The look needs no parser, and must not rely on one: two readers of the same text can disagree about where a string ends. In
 * these engines a name has no escapes, so a function, a keyword or a pragma can only be used where its letters stand in the text,
 * whatever quotes and comments stand around them. A statement that merely mentions one of them in a string is refused too.
 */
import { commented, type Guard, mentions, together, type WordRule } from '../refusal.js';

/** Most statements have none of these letters, and cost one search. */
const sqliteSuspects =
  /attach|vacuum|pragma|virtual|function|file|fsdir|extension|sha3_query|sqlite3mc|sqlite_crypt|dbpage|tokenizer|wasm|carray|\bedit\b/i;

const sqliteRefused: readonly WordRule[] = [
  [/\battach\b/i, 'ATTACH opens other files'],
  [mentions('vacuum', 'into'), 'VACUUM INTO writes another file'],
  [/writefile|readfile|fsdir|zipfile/i, 'its functions read and write files'],
  [/load_extension/i, 'it loads native code'],
  [/\bedit["'\]`]?\s*\(/i, 'its functions start programs'],
  [commented(/\bedit\b/i), 'its functions start programs'],
  [/sha3_query/i, 'it runs SQL from a text'],
  [/sqlite3mc|sqlite_crypt/i, 'it changes how files are encrypted'],
  [/sqlite_dbpage|fts3_tokenizer|libsql_wasm|\bcarray\b/i, 'it reaches below the tables'],
  [commented(/pragma/i), 'a PRAGMA with comments cannot be looked at'],
  [together('virtual', 'table'), 'virtual tables may be files'],
  [mentions('create', 'function'), 'it defines native functions'],
];

/** Settings that touch nothing but the scratch's own file and connection. */
const sqlitePragmas: ReadonlySet<string> = new Set(
  `analysis_limit application_id auto_vacuum automatic_index busy_timeout cache_size cache_spill case_sensitive_like
  cell_size_check checkpoint_fullfsync collation_list compile_options count_changes data_version database_list
  defer_foreign_keys empty_result_callbacks encoding foreign_key_check foreign_key_list foreign_keys freelist_count
  full_column_names fullfsync function_list ignore_check_constraints incremental_vacuum index_info index_list index_xinfo
  integrity_check journal_mode journal_size_limit legacy_alter_table legacy_file_format locking_mode max_page_count mmap_size
  module_list mvcc_checkpoint_threshold optimize page_count page_size pragma_list query_only quick_check read_uncommitted
  recursive_triggers reverse_unordered_selects schema_version secure_delete short_column_names shrink_memory
  soft_heap_limit stats synchronous table_info table_list table_xinfo temp_store threads user_version wal_autocheckpoint
  wal_checkpoint`.split(/\s+/),
);

const pragmaName = /\bpragma(?:\s+(?:["'`[]?\w+["'`\]]?\s*\.\s*)?["'`[]?(\w+)|_(\w+)|)/gi;

/** For SQLite and Turso. */
export const sqliteGuard: Guard = (sql) => {
  if (!sqliteSuspects.test(sql)) return undefined;
  const refused = sqliteRefused.find(([words]) => words.test(sql));
  if (refused !== undefined) return refused[1];
  for (const [, setting, table] of sql.matchAll(pragmaName)) {
    const name = (setting ?? table ?? '').toLowerCase();
    if (!sqlitePragmas.has(name)) return `PRAGMA ${name} is not among the settings a case may use`;
  }
  return undefined;
};

/** DuckDB's ways to write to the terminal of whoever runs it; a log that cannot be written ends the process. */
const duckdbRefused =
  /(?:enable|disable)_(?:profil\w*|logging|progress_bar|print_progress_bar)|profiling_|logging_|log_query_path|write_log/i;

/** For DuckDB, besides its own settings. */
export const duckdbGuard: Guard = (sql) =>
  duckdbRefused.test(sql) ? 'profiling and logging write outside the database' : undefined;
