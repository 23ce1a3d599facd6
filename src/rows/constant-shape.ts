/**
 * The shape of a statement: its text with the constants taken out. Only texts in which constants are easy to tell
 * (integers and plain quoted texts; no comments, escapes or fractions) have one.
 */
import type { Dialect, Value } from '../sql/index.js';

export interface Shape {
  readonly key: string;
  /** In the order of the text. */
  readonly constants: readonly Value[];
}

const quote = 39;
const longest = 2000;

export function shapeOf(sql: string, dialect: Dialect): Shape | undefined {
  if (sql.length > longest) return undefined;
  const constants: Value[] = [];
  let key = '';
  let from = 0;
  let i = 0;
  while (i < sql.length) {
    const c = sql.charCodeAt(i);
    if (isDigit(c)) {
      const start = i;
      while (i < sql.length && isDigit(sql.charCodeAt(i))) i++;
      const next = sql.charCodeAt(i);
      if (i - start > 15 || next === 46 || isWord(next)) return undefined; // 1.5, 1e9, 0x1f
      // A sign may be a constant's own or an operator; the parser tells, we do not.
      if (sql.charCodeAt(start - 1) === 45 || sql.charCodeAt(start - 1) === 46) return undefined;
      key += `${sql.slice(from, start)}?i`;
      constants.push(Number(sql.slice(start, i)));
      from = i;
    } else if (isWord(c)) {
      while (i < sql.length && isWord(sql.charCodeAt(i))) i++;
    } else if (c === quote) {
      const end = sql.indexOf("'", i + 1);
      if (end < 0 || sql.charCodeAt(end + 1) === quote) return undefined;
      const text = sql.slice(i + 1, end);
      if (text.includes('\\')) return undefined;
      key += `${sql.slice(from, i)}?t`;
      constants.push(text);
      i = end + 1;
      from = i;
    } else if (c === 34 || c === 96) {
      if (c === 34 && dialect === 'mysql') return undefined; // a text in MySQL, a name elsewhere
      const end = sql.indexOf(String.fromCharCode(c), i + 1);
      if (end < 0) return undefined;
      i = end + 1;
    } else if (c === 45 || c === 47 || c === 35 || c === 36 || c === 92) {
      const next = sql.charCodeAt(i + 1);
      if (c !== 45 || next === 45) return undefined; // comments, dollar quotes, escapes
      i++;
    } else i++;
  }
  return { key: key + sql.slice(from), constants };
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}

function isWord(c: number): boolean {
  return (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95 || c > 127 || isDigit(c);
}
