/**
 * Text of others on its way to a page. The page puts it into text nodes only, so that it is never markup; what is left are
 * characters that change what a reader sees (direction marks, controls) and sizes that no page can bear. Both end here.
 */
import { showControls } from '../visible.js';

const longest = 4000;

/** A text that can be shown: nothing hidden in it, and cut where nobody reads on. */
export function shownText(text: string, most = longest): string {
  const { kept, rest } = cut(text, most);
  return `${showControls(kept)}${rest}`;
}

/** The beginning of a text that is one of several on a screen; what it is in full stands in the case. */
export function shortText(text: string, most: number): string {
  const { kept, rest } = cut(text, most);
  return `${kept}${rest}`;
}

function cut(text: string, most: number): { readonly kept: string; readonly rest: string } {
  if (text.length <= most) return { kept: text, rest: '' };
  // Not through a pair of surrogates.
  const end = /[\uD800-\uDBFF]/.test(text[most - 1]!) ? most - 1 : most;
  return { kept: text.slice(0, end), rest: `… (${text.length - end} more characters)` };
}

/** Every text in a JSON value made showable; names of members are ours and stay. */
export function shown<T>(value: T): T {
  return walk(value) as T;
}

function walk(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value);
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [shownText(name, 200), walk(member)]),
  );
}
