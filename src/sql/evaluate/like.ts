/** LIKE: `%`, `_` and an escape character, by code point, with the case rules of the dialect. */
import type { Dialect } from '../dialect.js';
import { type Truth, undecidable } from './undecidable.js';

const ascii = /^\p{ASCII}*$/u;

export interface LikeOptions {
  readonly dialect: Dialect;
  readonly escape?: string | undefined;
  /** ILIKE. */
  readonly ignoreCase?: boolean;
  /** The engine only speaks the dialect: case, the escape if none is named, and characters beyond UTF-16 are its own. */
  readonly borrowed?: boolean;
}

/** Whether a text is like a pattern. */
export function matchLike(text: string, pattern: string, options: LikeOptions): Truth {
  const { dialect, ignoreCase = false } = options;
  const mark = options.escape ?? (dialect === 'postgres' || dialect === 'mysql' ? '\\' : undefined);
  if (options.borrowed === true) {
    if (options.escape === undefined && pattern.includes('\\'))
      return undecidable('whether a backslash escapes is the engine’s own');
    if (/[\u{10000}-\u{10ffff}]/u.test(text + pattern)) return undecidable('what is one character for LIKE');
  }
  const parts = parsePattern(pattern, mark);
  if (parts === undefined) return undecidable('the LIKE pattern ends in its escape character');
  const collated = dialect === 'mysql' || options.borrowed === true;
  const exact = matches([...text], parts, false);
  const folded = matches([...text], parts, true);
  if (exact === folded)
    return ascii.test(text + pattern) || !collated ? exact : undecidable('the collation decides');
  const plain = ascii.test(text + pattern);
  if (collated) return undecidable('the collation decides');
  if (ignoreCase) return plain ? folded : undecidable('case of letters beyond ASCII');
  return dialect === 'sqlite' ? (plain ? folded : undecidable('case of letters beyond ASCII')) : exact;
}

/** A character to match, `any` one or `many`. */
type Part = { readonly char: string } | 'any' | 'many';

function parsePattern(pattern: string, mark: string | undefined): Part[] | undefined {
  const parts: Part[] = [];
  const chars = [...pattern];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (mark !== undefined && mark !== '' && char === mark) {
      const next = chars[++i];
      if (next === undefined) return undefined;
      parts.push({ char: next });
    } else parts.push(char === '%' ? 'many' : char === '_' ? 'any' : { char });
  }
  return parts;
}

/** Greedy matching with one point of return, linear in practice. */
function matches(text: readonly string[], parts: readonly Part[], fold: boolean): boolean {
  let at = 0;
  let part = 0;
  let returnAt = -1;
  let returnPart = -1;
  while (at < text.length) {
    const wanted = parts[part];
    if (wanted === 'many') {
      returnPart = part++;
      returnAt = at;
    } else if (wanted !== undefined && (wanted === 'any' || sameChar(wanted.char, text[at]!, fold))) {
      at++;
      part++;
    } else if (returnPart >= 0) {
      part = returnPart + 1;
      at = ++returnAt;
    } else return false;
  }
  while (parts[part] === 'many') part++;
  return part === parts.length;
}

function sameChar(a: string, b: string, fold: boolean): boolean {
  return a === b || (fold && a.toLowerCase() === b.toLowerCase());
}
