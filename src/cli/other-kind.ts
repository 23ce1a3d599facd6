/** A file that another command takes: says which one, instead of what this one could not read in it. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** For commands that take a case. undefined: nothing speaks against its being one. */
export function otherKind(file: string, text: string): string | undefined {
  const folder = kindOfFolder(file);
  if (folder !== undefined) return folder;
  const head = text.slice(0, 4000);
  if (/^\s*\{\s*"format":\s*"isolde-history"/.test(head) || isGzip(head))
    return `${file} is a history, not a case: isolde check ${file} judges it, isolde reduce ${file} makes a case of it`;
  if (/^\s*\{\s*"format":\s*"isolde-bug"/.test(head))
    return `${file} is a stored bug: its case is case.sql beside it, isolde bugs rerun replays it`;
  if (isEdn(head) || /^\s*[wr]\(\d/.test(head))
    return `${file} is a history of reads and writes, not a case: isolde check ${file} judges it`;
  return undefined;
}

/** For commands that take histories. */
export function caseInstead(file: string, head: string): string | undefined {
  const isCase =
    /^-- isolde script|"format":\s*"isolde-case"/m.test(head) ||
    (/\bcreate\s+table\b/i.test(head) && !/"format":\s*"isolde-history"/.test(head) && !isEdn(head));
  return isCase
    ? `${file} is a case, not a history: isolde run ${file} --check runs and judges it`
    : undefined;
}

function kindOfFolder(file: string): string | undefined {
  if (!existsSync(file) || !statSync(file).isDirectory()) return undefined;
  if (existsSync(join(file, 'bug.json')))
    return `${file} is the folder of a stored bug; its case is ${join(file, 'case.sql')}`;
  if (existsSync(join(file, 'store.json')))
    return `${file} is a store: isolde bugs list --store ${file} shows what is in it`;
  return `${file} is a folder; isolde check takes folders of histories, this command one case`;
}

/** Jepsen's notation; lines of remarks may come first. */
const isEdn = (head: string): boolean =>
  /^\s*[[(]?\s*\{\s*:(?:type|index|process|f|op)\b/.test(head.replace(/^(?:\s*;[^\n]*\n)+/, ''));

/** Read as text, the first two bytes of gzip. */
const isGzip = (head: string): boolean => head.startsWith('\u001f\ufffd');
