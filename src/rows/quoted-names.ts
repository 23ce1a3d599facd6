/**
 * Names of which nobody can tell whether they are one. An engine that only speaks PostgreSQL's dialect folds names in its own way: to HSQLDB
 * and Derby `id` is `"ID"` and not `"id"`, to H2 (as Isolde starts it) it is both. A name that is always spelt alike means the same thing
 * everywhere. One that a program writes with quotes and without, or in quotes in several spellings, does not.
 */

const strings = /'(?:[^']|'')*'/g;
const quotes = /"((?:[^"]|"")*)"/g;
const words = /[\p{L}_][\p{L}\p{N}_$]*/gu;

/** The names, in small letters, that statements write in ways of which an engine may make one name or two. */
export function doubtfulNames(statements: Iterable<string>): ReadonlySet<string> {
  const quoted = new Map<string, Set<string>>();
  const all = [...statements];
  for (const sql of all) {
    if (!sql.includes('"')) continue;
    for (const [, name = ''] of sql.replace(strings, "''").matchAll(quotes)) {
      const key = name.toLowerCase();
      quoted.set(key, (quoted.get(key) ?? new Set()).add(name));
    }
  }
  const doubtful = new Set<string>();
  if (quoted.size === 0) return doubtful;
  for (const [key, spellings] of quoted) if (spellings.size > 1) doubtful.add(key);
  for (const sql of all)
    for (const [word] of sql.replace(strings, "''").replace(quotes, ' ').matchAll(words))
      if (quoted.has(word.toLowerCase())) doubtful.add(word.toLowerCase());
  return doubtful;
}
