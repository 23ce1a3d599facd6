/**
 * Statements that reach beyond the scratch database although the login has rights on nothing else: the login itself, other databases named
 * `isolde_…`, sessions of the same login, the server. On a server of the user's they are refused, whoever wrote the case.
 *
 * Words are looked for anywhere in the text: procedures and comments that the server executes (`/*!50000`) may hold them, so SQL put
 * together at run time is refused, too. Words that are ordinary elsewhere count only where a statement begins, after comments.
 */
import { type Guard, mentions, together, type WordRule } from '../refusal.js';

const first =
  /^(?:USE|GRANT|REVOKE|SHUTDOWN|KILL|FLUSH|RESET|PURGE|INSTALL|UNINSTALL|CHANGE|STOP|RESTART|LOAD|IMPORT)\b/i;

/** Most statements have none of these letters, and cost one search. */
const suspects =
  /password|global|persist|role|user|server|tablespace|instance|event|database|schema|prepare|immediate|kill/i;

const rules: readonly WordRule[] = [
  [together('set', 'password'), 'it changes the login itself'],
  [together('set|default|grant|revoke|create|drop|alter|replace', 'role'), 'it changes roles'],
  [
    together('create|drop|alter|rename|replace', 'user|server|tablespace|instance|event|database|schema'),
    'it changes the server, its accounts or other databases',
  ],
  [mentions('create', 'definer', 'event'), 'events run without anybody'],
  [mentions('set', 'global|persist|persist_only'), 'it changes settings of the server'],
  [/\bkill\b/i, 'it ends sessions of others with the same login'],
  [mentions('xa', 'prepare'), 'a prepared transaction outlives its session'],
  [/\b(?:prepare|immediate)\b/i, 'SQL that is put together at run time cannot be looked at'],
];

/** Comments before the first word, and the opening of one that is executed. */
const leading =
  /^(?:\s|--(?=\s)[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*[MT]?!(?:\d+|\[[\w,]*\])?|\/\*(?![MT]?!)[^*]*\*+(?:[^/*][^*]*\*+)*\/|;|\()*/i;

/** `SET a = 1, PASSWORD = …`; in these statements SET gives values to columns. */
const setsPassword = mentions('set', 'password');
const setsColumns = /^(?:update|insert|replace|with|delete|select)\b/i;

export const userServerGuard: Guard = (sql) => {
  const text = sql.replace(leading, '');
  if (first.test(text)) return 'it reaches beyond the scratch database';
  if (!suspects.test(sql)) return undefined;
  const rule = rules.find(([words]) => words.test(sql));
  if (rule !== undefined) return rule[1];
  return !setsColumns.test(text) && sql.includes(',') && setsPassword.test(sql)
    ? 'it may change the login itself'
    : undefined;
};
