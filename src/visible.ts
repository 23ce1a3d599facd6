/**
 * Text of others made visible. What a server, a file or an adapter says is data: printed as it is, it could move the
 * cursor, change colours, set the window's title, or turn the reading direction so that a line shows something else
 * than it says. Characters that do so are written as escapes instead.
 *
 * Shown are all control characters (C0, DEL, C1) but line breaks and tabs, the line separators of Unicode, and its
 * format characters (direction marks, invisible tags, byte-order marks) but the two joiners that many scripts and emoji
 * need to be spelt right. From DEL on the escapes are those of JSON, and what comes before DEL never stands raw in
 * JSON: a JSON text stays the same JSON.
 */

const hidden = /(?![\n\t])\p{Cc}|\p{Zl}|\p{Zp}|(?![\u200c\u200d])\p{Cf}/gu;

/**
 * `text` with every character that steers a terminal or hides what is said as an escape; line breaks and
 * tabs stay, half a surrogate pair becomes the replacement character.
 */
export function showControls(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, '\ufffd').replaceAll(hidden, escapeChar);
}

/** The same on one line: line breaks become spaces. */
export function oneLine(text: string): string {
  return showControls(text.replaceAll(/\s*\n\s*/g, ' '));
}

function escapeChar(char: string): string {
  const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
  return units
    .map((unit) =>
      unit < 0x20 ? `\\x${unit.toString(16).padStart(2, '0')}` : `\\u${unit.toString(16).padStart(4, '0')}`,
    )
    .join('');
}

/** A text as one word of a POSIX shell, for command lines that people copy. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${oneLine(text).replaceAll("'", String.raw`'\''`)}'`;
}
