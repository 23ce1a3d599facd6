/**
 * Definitions that change what tables hold, or what their names mean, without naming them all.
 *
 * - `CASCADE` goes on to tables that refer to what it names (`TRUNCATE t CASCADE`), or have columns of it (`DROP TYPE e CASCADE`).
 * - A type is used by columns of any table: `ALTER TYPE e RENAME VALUE 'a' TO 'b'` changes what they show.
 * - Whatever is temporary stands before a table of its name, for its own session: a view, a sequence, `SELECT … INTO TEMP`.
 */
const reaching =
  /^\s*(?:(?:truncate|drop)\b.*\bcascade\b|(?:alter|drop)\s+(?:type|domain|schema|owned|extension)\b|create\b[^(]*?\btemp(?:orary)?\b|[(\s]*(?:select|with)\b.*\binto\s+temp(?:orary)?\b)/is;

export function reachesAnyTable(sql: string): boolean {
  return reaching.test(sql);
}
