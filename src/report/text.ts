/**
 * Text from cases, databases and files on its way into a page. SQL and data are never trusted: in HTML every character
 * that could begin markup is escaped, in Markdown data stands only in code spans and fences it cannot leave, and control
 * characters are shown instead of sent.
 */

/** Escaped for element content and for attribute values in double quotes. */
export function escapeHtml(text: string): string {
  return showControls(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Control characters, lone surrogates and direction marks made visible; line breaks and tabs stay. */
export function showControls(text: string): string {
  return text
    .replaceAll(/\p{Cs}/gu, '\ufffd')
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu, (char) =>
      char === '\n' || char === '\t' ? char : `\\u{${char.codePointAt(0)!.toString(16)}}`,
    );
}

/** One line of it. */
export function oneLine(text: string): string {
  return showControls(text).replaceAll(/\s*\n\s*/g, ' ');
}

/** A Markdown code span; its fence is longer than any run of backticks inside. */
export function codeSpan(text: string): string {
  const line = oneLine(text);
  const fence = '`'.repeat(longestRun(line, /`+/g) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') || line.trim() !== line || line === '' ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** A code span inside a Markdown table, where even in code a bar ends the cell. */
export function codeCell(text: string): string {
  return codeSpan(text).replaceAll('|', '\\|');
}

/** A fenced block; `language` is ours. */
export function codeBlock(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text, /`+/g) + 1));
  return `${fence}${language}\n${showControls(text).replace(/\n+$/, '')}\n${fence}`;
}

/** Prose that may quote data: every character Markdown or HTML gives a meaning is escaped. */
export function escapeMarkdown(text: string): string {
  return oneLine(text).replaceAll(/[\\`*_{}[\]<>()#+!|~&$]/g, (char) => `\\${char}`);
}

function longestRun(text: string, pattern: RegExp): number {
  return Math.max(0, ...[...text.matchAll(pattern)].map(([run]) => run.length));
}

/** A link only where the address is one: `javascript:` and the like are shown as text. */
export function isWebAddress(url: string): boolean {
  return /^https?:\/\/[^\s"'<>`\\]+$/i.test(url);
}
