/**
 * Key-value histories as one line of text, for tests, documentation and people:
 *
 *     kv('T1: wx1 ry_ | T2@alice: rx1 ax2 | T3@alice!: wy5 | T4?[10-20]: rx[1,2]')
 *
 * Transactions are separated by `|`. Before the colon stand a name (for the reader only), then in any order
 * `@session` (otherwise each transaction has a session of its own), `!` for aborted or `?` for unknown, and
 * `[start-end]` in nanoseconds. Operations: `wx1` writes 1 to x, `ax1` appends 1 to x, `rx1` reads 1,
 * `rx_` reads the initial state, `rx[1,2]` reads a list, `rx?` has no recorded result. A key is a lower-case word
 * without digits, a value a number.
 */
import { IsoldeError } from '../errors.js';
import { KvBuilder } from './kv-builder.js';
import type { Definitions, KvHistory, KvStatus } from './kv-history.js';

const headPattern = /^([A-Za-z]\w*)((?:@\w+|[!?]|\[\d+-\d*\])*)$/;
const partPattern = /@\w+|[!?]|\[\d+-\d*\]/g;
const opPattern = /^([wra])([a-z]+)(\d+|_|\?|\[[\d,]*\])$/;

export function kv(text: string, options: { readonly definitions?: Definitions } = {}): KvHistory {
  const builder = new KvBuilder(options);
  for (const [i, part] of text.split('|').entries()) addTransaction(builder, part.trim(), i);
  return builder.build();
}

function addTransaction(builder: KvBuilder, text: string, position: number): void {
  const colon = text.indexOf(':');
  const head = headPattern.exec(text.slice(0, Math.max(0, colon)).trim());
  if (head === null) throw badShorthand(text, 'a transaction such as `T1@session[0-5]: wx1 rx1`');
  let session = `session of ${position + 1}`;
  let status: KvStatus = 'committed';
  let start: number | undefined;
  let end: number | undefined;
  for (const [part] of head[2]!.matchAll(partPattern)) {
    if (part === '!') status = 'aborted';
    else if (part === '?') status = 'unknown';
    else if (part.startsWith('@')) session = part.slice(1);
    else {
      const [from, to] = part.slice(1, -1).split('-');
      start = Number(from);
      if (to !== '') end = Number(to);
    }
  }
  builder.begin(session, start);
  for (const word of text.slice(colon + 1).split(/\s+/)) if (word !== '') addOperation(builder, word);
  builder.end(status, end);
}

function addOperation(builder: KvBuilder, word: string): void {
  const match = opPattern.exec(word);
  if (match === null) throw badShorthand(word, '`wx1`, `ax1`, `rx1`, `rx_`, `rx?` or `rx[1,2]`');
  const [, kind, key, value] = match as unknown as [string, string, string, string];
  const list = value.startsWith('[');
  if (kind === 'r') {
    if (list) builder.readList(key, value === '[]' ? [] : value.slice(1, -1).split(',').map(Number));
    else builder.read(key, value === '_' ? null : value === '?' ? undefined : Number(value));
  } else if (list || value === '_' || value === '?') {
    throw badShorthand(word, 'a number to write');
  } else if (kind === 'w') builder.write(key, Number(value));
  else builder.append(key, Number(value));
}

function badShorthand(text: string, wanted: string): IsoldeError {
  return new IsoldeError('usage', `cannot read "${text}" in a history: expected ${wanted}`);
}
