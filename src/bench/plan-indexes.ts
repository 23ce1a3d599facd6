/**
 * Which indexes a plan names, by the words of the engine that told it.
 *
 * | plan of | says |
 * |---|---|
 * | PostgreSQL | `Index Scan using i on t`, `Index Only Scan using i`, `Bitmap Index Scan on i` |
 * | MySQL, MariaDB, TiDB | a column `key`, not `possible_keys`; `Using index` alone in `Extra`: nothing but the index is read |
 * | SQLite, Turso | `USING INDEX i`, `USING COVERING INDEX i`, `USING INTEGER PRIMARY KEY` |
 * | H2 | a comment `SCHEMA.I: V = 1`, `SCHEMA.PRIMARY_KEY_7: K = 1` |
 * | HSQLDB | `access=INDEX PRED`, then `index=I` or `index=SYS_IDX_SYS_PK_…`; `access=FULL SCAN` names an index, too, and does not search it |
 * | DuckDB | `Type: Index Scan`, without a name, and only of a statement that is run (`EXPLAIN ANALYZE`) |
 *
 * An engine that refuses to explain, as Derby does, tells nothing; that is not the same as no index.
 */
import type { Value } from '../sql/index.js';

export interface Explained {
  /** Absent: the engine refused. */
  readonly rows?: readonly (readonly Value[])[] | undefined;
  readonly columns?: readonly string[] | undefined;
}

export const notTold = 'not told';

const words: ReadonlyMap<string, string> = new Map([
  ['sqlite', 'EXPLAIN QUERY PLAN'],
  ['turso', 'EXPLAIN QUERY PLAN'],
  ['hsqldb', 'EXPLAIN PLAN FOR'],
  ['duckdb', 'EXPLAIN ANALYZE'],
  // What it tells by itself depends on a setting (`explain_format`).
  ['mysql', 'EXPLAIN FORMAT=TRADITIONAL'],
]);

/** What to send before a statement to be told its plan; the engine by the scheme of its URL. */
export function explainWords(scheme: string): string {
  return words.get(scheme) ?? 'EXPLAIN';
}

/** The kinds of the indexes that are used and how: `secondary, bitmap`. `kinds`: names, as patterns, with what they are. */
export function indexesUsed(
  { rows, columns = [] }: Explained,
  kinds: ReadonlyMap<string, string>,
): readonly string[] {
  if (rows === undefined) return [notTold];
  const named = columns.some((name) => name.toLowerCase() === 'possible_keys')
    ? rows.flatMap((row) => namedByKey(row, columns))
    : namedIn(rows.flatMap((row) => row.filter((cell) => typeof cell === 'string')).join('\n'));
  const used = named.flatMap(({ name, how }) => {
    const kind = kindOf(name, kinds);
    return kind === undefined ? [] : [how === undefined ? kind : `${kind}, ${how}`];
  });
  return used.length === 0 ? ['none'] : [...new Set(used)];
}

interface Named {
  readonly name: string;
  readonly how?: 'index only' | 'bitmap' | undefined;
}

function namedByKey(row: readonly Value[], columns: readonly string[]): Named[] {
  const cell = (name: string) => row[columns.findIndex((each) => each.toLowerCase() === name)];
  const key = cell('key');
  if (typeof key !== 'string') return [];
  // `Using index condition` reads the row as well.
  const only = /\bUsing index\b(?! condition)/.test(String(cell('extra') ?? ''));
  return key.split(',').map((name) => ({ name, ...(only && { how: 'index only' as const }) }));
}

const phrases: readonly (readonly [RegExp, Named['how']?])[] = [
  [/Index Only Scan(?: Backward)? using "?([\w$]+)/gi, 'index only'],
  [/Index Scan(?: Backward)? using "?([\w$]+)/gi],
  [/Bitmap Index Scan on "?([\w$]+)/gi, 'bitmap'],
  [/USING COVERING INDEX ([\w$]+)/gi, 'index only'],
  [/USING (?:AUTOMATIC )?INDEX ([\w$]+)/gi],
  [/USING (INTEGER PRIMARY KEY)/gi],
  // H2: the name, quoted or not, behind that of a schema.
  [/\/\*\s*(?:"?[\w$]+"?\.)?"?([\w$]+)"?(?::|\s*\*\/)/g],
  [/access=INDEX PRED\W+(?:join condition = \[)?index=([\w$]+)/gi],
  // TiDB: `index:i(v)`.
  [/\bindex:([\w$]+)/gi],
  [/Type: (Index Scan)/g],
];

function namedIn(text: string): Named[] {
  return phrases.flatMap(([phrase, how]) =>
    [...text.matchAll(phrase)].map((match) => ({ name: match[1]!, how })),
  );
}

/** Names that engines give to what has none. */
const givenNames: readonly (readonly [RegExp, string])[] = [
  [/^PRIMARY(_KEY_\w+)?$/i, 'primary key'],
  [/^SYS_(IDX_SYS_)?PK_/i, 'primary key'],
  [/^SYS_(IDX_SYS_)?CT_/i, 'unique key'],
  [/^CONSTRAINT_INDEX_\w+$/i, 'unique key'],
  [/^INTEGER PRIMARY KEY$/i, 'row id'],
  [/^Index Scan$/, 'an index, not told which'],
];

function kindOf(name: string, kinds: ReadonlyMap<string, string>): string | undefined {
  for (const [pattern, kind] of kinds) if (new RegExp(`^(?:${pattern})$`, 'i').test(name)) return kind;
  return givenNames.find(([pattern]) => pattern.test(name))?.[1];
}
