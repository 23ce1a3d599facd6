/**
 * JSON whose integers must not be rounded. `JSON.parse` turns 9007199254740993 into …992, and two values that
 * become one are a false anomaly; so a text that holds such a long number is read by the exact reader, where
 * it becomes an atom with all its digits.
 */
import { type Edn, EdnEnd, EdnMap, EdnProblem, EdnReader, printEdn } from './edn-reader.js';

const longNumber = /\d{17}|9\d{15}|[eE]\+?\d{3}/;

/** Parses a JSON text as JavaScript does; undefined where it is none. */
export function parseJsonText(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Parses a JSON text; undefined where it is none. */
export function parseExactJson(text: string): { readonly value: unknown } | undefined {
  const plain = parseJsonText(text);
  if (plain === undefined || !longNumber.test(text)) return plain;
  // JSON.parse has accepted it, so only nesting beyond all reason is left to go wrong.
  const bytes = Buffer.from(`${text} `, 'utf8');
  try {
    return { value: plainOf(new EdnReader(bytes, 0, bytes.length, true).read()) };
  } catch (thrown) {
    if (thrown instanceof EdnProblem || thrown instanceof EdnEnd) return undefined;
    throw thrown;
  }
}

/** Maps as plain objects, atoms as text. */
function plainOf(value: Edn): unknown {
  if (value instanceof EdnMap) {
    return Object.fromEntries(value.entries.map(([name, item]) => [String(name), plainOf(item)]));
  }
  if (Array.isArray(value)) return (value as readonly Edn[]).map(plainOf);
  return typeof value === 'object' && value !== null ? printEdn(value) : value;
}
