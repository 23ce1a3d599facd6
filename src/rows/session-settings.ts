/**
 * Which settings leave a session's statements what their texts say? After any other one a query may show fewer rows
 * (`sql_select_limit`), a name may mean another table (`search_path`), values may be compared or computed in another way
 * (`sql_mode`, `collation_connection`, `time_zone`): nothing that the session does from there on is followed or judged.
 *
 * Harmless are those that decide how long, how fast or with which plan a statement runs, and variables of one's own. Those of isolation
 * are another matter: what is written is still known (`transactions.ts`).
 */
import type { Operation } from '../histories/index.js';
import { classifyStatement, type Dialect } from '../sql/index.js';

const harmless = new RegExp(
  `^(${[
    String.raw`@\w+`,
    // How long, how much, how loud.
    String.raw`\w*timeout|lock_wait_\w+|max_statement_time|max_execution_time`,
    String.raw`\w*(_mem|_buffers?|_buffer_size|_cache|_cache_size|_memory|_log|_notes|_warnings)|memory_limit|threads|external_threads`,
    String.raw`log_\w+|client_min_messages|application_name|lc_messages|profiling|sql_log_bin|sql_safe_updates|\w*progress_bar\w*`,
    // How safely it is kept, and when.
    String.raw`synchronous(_commit)?|commit_delay|commit_siblings|wal_\w+|checkpoint_\w+|mmap_size|temp_store|locking_mode|wsrep_\w+`,
    // With which plan.
    String.raw`enable_\w+|disabled_optimizers|optimizer_\w+|geqo\w*|jit\w*|\w*_collapse_limit|\w+_page_cost|cpu_\w+_cost|plan_cache_mode`,
    String.raw`\w*parallel_\w+|effective_\w+|default_statistics_target|constraint_exclusion|eq_range_index_dive_limit|use_stat_tables`,
    String.raw`join_cache_level|automatic_index|preserve_insertion_order|scheduler_\w+`,
    // Questions, and checks by which statements are refused: the answers show it.
    'table_x?info|index_x?info|index_list|table_list|database_list|integrity_check|quick_check|optimize|data_version|user_version',
    'unique_checks|check_constraint_checks|foreign_key_checks|constraints',
    // Isolation.
    String.raw`\w*(isolation|transaction|autocommit|snapshot|journal_mode|read_uncommitted|foreign_keys)\w*|session\s+characteristics|tidb_txn_mode`,
  ].join('|')})$`,
  'i',
);

const scope = /^(?:(?:global|session|local|persist|persist_only)\s+(?!characteristics)|@@(?:\w+\.)?)/i;

/** Whether an operation has, or may have, changed what others of its session mean. */
export function changesSession(
  { kind, sql = '', outcome }: Operation,
  dialect: Dialect | undefined,
): boolean {
  const asked = kind === 'set' || kind === 'other' || (kind === 'select' && sql.includes('set_config'));
  return asked && outcome !== 'error' && changesMeaning(sql, dialect);
}

/** Whether what the statements of its session mean may be another thing after this one. */
export function changesMeaning(sql: string, dialect: Dialect | undefined): boolean {
  if (/^[\s(]*(?:select|with|values|perform)\b/i.test(sql)) return /\bset_config\s*\(/i.test(sql);
  const [, word = '', rest = ''] = /^\s*(\w+)\s*([\s\S]*?)[\s;]*$/.exec(sql) ?? [];
  if (/^(use|discard)$/i.test(word)) return !/^(plans|sequences)$/i.test(rest);
  if (/^(reset|pragma)$/i.test(word))
    return !harmless.test(/^(?:\w+\.)?([\w ]+)/.exec(rest)?.[1]?.trim() ?? '');
  if (!/^set$/i.test(word) || classifyStatement(sql, dialect).kind !== 'set') return false;
  return !assigned(rest).every((name) => harmless.test(name));
}

/** The settings that a SET assigns; `rest` is what follows the word. */
function assigned(rest: string): string[] {
  return parts(rest).flatMap((part, i) => {
    const plain = part.trim().replace(scope, '');
    const name = /^(@?[\w.$]+)\s*(?::?=|to\b)/i.exec(plain)?.[1];
    if (name !== undefined) return [name];
    // Without one it is a further value (`search_path = a, b`), or a form with words of its own (`TRANSACTION …`, `ROLE x`).
    return i > 0 ? [] : [/^(?:session\s+)?\w+/i.exec(plain)?.[0] ?? ''];
  });
}

/** Parts between the commas that stand outside of quotes and parentheses. */
function parts(text: string): string[] {
  const found = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/'(?:[^'\\]|''|\\.)*'|"[^"]*"|`[^`]*`|[\s\S]/g)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === ',' && depth === 0) found.push('');
    else found.push(found.pop()! + token);
  }
  return found;
}
