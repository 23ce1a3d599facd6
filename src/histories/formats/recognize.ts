/** Tells formats by the first bytes of a file, or by names of files. Each test is narrow: what two formats could both be is neither. */
import { looksLikeCobra } from './cobra.js';
import { looksLikeDbcop } from './dbcop.js';

const text = (head: Buffer): string =>
  head
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart();

/** The text without EDN's comments. */
function withoutComments(head: Buffer): string {
  let rest = text(head);
  while (rest.startsWith(';')) rest = rest.slice(rest.indexOf('\n') + 1 || rest.length).trimStart();
  return rest;
}

export const fitsOwn = (head: Buffer): boolean => /^\{[^\n]*"format"\s*:\s*"isolde-history"/.test(text(head));

export const fitsJepsen = (head: Buffer): boolean =>
  /^([[(]\s*)?(#[A-Za-z][\w./-]*\s*)?\{\s*:[a-z]/.test(withoutComments(head));

export const fitsElleJson = (head: Buffer): boolean => {
  const start = text(head);
  if (/^\[\s*\]\s*$/.test(start)) return true;
  return /^(\[\s*)?\{\s*"/.test(start) && /"type"\s*:\s*":?(invoke|ok|fail|info)"/.test(start);
};

export const fitsViper = (head: Buffer): boolean =>
  /^\{\s*"value"\s*:\s*\[\s*(\[\s*"[rw]"|\])/.test(text(head)) && !fitsElleJson(head);

export const fitsDbcopJson = (head: Buffer): boolean => {
  const start = text(head);
  return /^(\{[\s\S]*"data"\s*:\s*)?\[\s*\[\s*(\{\s*"(events|committed)"|\])/.test(start);
};

export const fitsPlume = (head: Buffer): boolean => /^[rw]\([^()\n]*\)\s*(\r?\n|$)/.test(text(head));

export const fitsAwdit = (head: Buffer): boolean =>
  /^([rw][ \t]+\S+[ \t]+\S+|-{3,}|={3,})[ \t]*(\r?\n|$)/.test(text(head));

export const fitsPisco = (head: Buffer): boolean =>
  /^\[\s*\{[\s\S]*"operationTraceType"\s*:/.test(text(head));

export const fitsCobra = (head: Buffer): boolean => looksLikeCobra(head);

export const fitsDbcop = (head: Buffer): boolean => looksLikeDbcop(head);

export const isPiscoTrace = (name: string): boolean => /^loader-\d+\.\d+\.json$/.test(name);

export const isViperLog = (name: string): boolean => /^J\d+\.log$/i.test(name);

/** Whether a file is a tar archive. */
export function looksLikeTar(head: Buffer): boolean {
  return head.length >= 263 && head.toString('latin1', 257, 262) === 'ustar';
}
