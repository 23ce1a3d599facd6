/** What quoted texts stand for, per dialect. */
import type { Dialect } from '../dialect.js';

/** The text a string token stands for; `undefined` when an escape is not one we know exactly. */
export function unquoteString(token: string, dialect: Dialect): string | undefined {
  if (token[0] === '$') {
    const tag = token.slice(0, token.indexOf('$', 1) + 1);
    return token.slice(tag.length, -tag.length);
  }
  const escaped = token[0] === 'E' || token[0] === 'e';
  const body = escaped ? token.slice(1) : token;
  const quote = body[0]!;
  if (body.length < 2 || body.at(-1) !== quote) return undefined;
  const inner = body.slice(1, -1);
  if (!escaped && dialect !== 'mysql') return inner.replaceAll(quote + quote, quote);
  if (!inner.includes('\\')) return inner.replaceAll(quote + quote, quote);
  return unescapeText(inner, quote, dialect);
}

const mysqlEscapes: Readonly<Record<string, string>> = {
  '0': '\0',
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  Z: '\x1a',
  '%': '\\%',
  _: '\\_',
};
const postgresEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescapeText(inner: string, quote: string, dialect: Dialect): string | undefined {
  const escapes = dialect === 'mysql' ? mysqlEscapes : postgresEscapes;
  let text = '';
  for (let i = 0; i < inner.length; i++) {
    const char = inner[i]!;
    if (char === quote) i++;
    if (char !== '\\') text += char;
    else {
      const next = inner[++i];
      if (next === undefined) return undefined;
      if (dialect !== 'mysql' && /[0-7xuU]/.test(next)) return undefined;
      text += Object.hasOwn(escapes, next) ? escapes[next]! : next;
    }
  }
  return text;
}
