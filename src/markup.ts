/**
 * Text from cases, databases and files on its way into a page. SQL and data are never trusted: in HTML every character
 * that could begin markup is escaped, in Markdown data stands only in code spans and fences it cannot leave, and control
 * characters are shown instead of sent.
 */
import { oneLine, showControls } from './visible.js';

/** Escaped for element content and for attribute values in double quotes. */
export function escapeHtml(text: string): string {
  return showControls(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
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

/**
 * Prose that may quote data: every character Markdown or HTML gives a meaning is escaped, and addresses, e-mail
 * addresses and @names, which trackers turn into links and mentions without any markup, are broken up by an escape or
 * an empty comment that no reader of the rendered page sees.
 */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replaceAll(/[\\`*_{}[\]<>()#+!|~&$]/g, (char) => `\\${char}`)
    .replaceAll('://', ':\\/\\/')
    .replaceAll(/\bwww\./gi, (prefix) => `${prefix.slice(0, -1)}\\.`)
    .replaceAll('@', '@<!-- -->');
}

function longestRun(text: string, pattern: RegExp): number {
  return Math.max(0, ...[...text.matchAll(pattern)].map(([run]) => run.length));
}

/** A link only where the address is one: `javascript:` and the like are shown as text. */
export function isWebAddress(url: string): boolean {
  return /^https?:\/\/[^\s"'<>`\\]+$/i.test(url);
}
