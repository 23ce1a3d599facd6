/** Answers of pure functions that are asked the same few questions again and again: names to print, types to read. */
import type { Dialect } from './dialect.js';

/** Names come from hostile files, too: what is kept must not grow with them. */
const mostKept = 1000;

/** The same function of a text and a dialect, which computes an answer once. */
export function remember<T>(
  compute: (text: string, dialect: Dialect) => T,
): (text: string, dialect: Dialect) => T {
  const kept: Readonly<Record<Dialect, Map<string, T>>> = {
    postgres: new Map(),
    mysql: new Map(),
    sqlite: new Map(),
    duckdb: new Map(),
  };
  return (text, dialect) => {
    const answers = kept[dialect];
    const known = answers.get(text);
    if (known !== undefined) return known;
    const answer = compute(text, dialect);
    if (answers.size >= mostKept) answers.clear();
    answers.set(text, answer);
    return answer;
  };
}
