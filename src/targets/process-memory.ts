/** What a server's processes hold of memory, from the outside. Linux only (/proc). */
import { readFileSync } from 'node:fs';

/** Bytes that a process and those it started hold for themselves: not what they share, nor pages of files. */
export function ownMemoryBytes(pid: number): number | undefined {
  const own = anonymousBytes(pid);
  if (own === undefined) return undefined;
  return childrenOf(pid).reduce((sum, child) => sum + (ownMemoryBytes(child) ?? 0), own);
}

function anonymousBytes(pid: number): number | undefined {
  const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`)) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

function childrenOf(pid: number): number[] {
  return textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** Empty for a process that is gone, and where there is no /proc. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
