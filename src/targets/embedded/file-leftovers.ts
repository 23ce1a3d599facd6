/** Scratches in a folder, told by the file in them that carries the mark; in use while the process it names runs. */
import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../../running.js';
import { type FoundScratch, madeAt, ownerOf } from '../scratch-mark.js';
import type { Target } from '../target.js';
import { markFile } from './file-scratch.js';

export function leftoversIn(parent: string): Required<Pick<Target, 'foundScratches' | 'dropFound'>> {
  const foundScratches = async () =>
    readdirSync(parent)
      .sort()
      .flatMap((name) => readScratch(parent, name) ?? []);
  return {
    foundScratches,
    dropFound: async (namespace) => {
      if (readScratch(parent, namespace) !== undefined) {
        rmSync(join(parent, namespace), { recursive: true, force: true });
      }
    },
  };
}

/** Removes what processes that were killed left in the folder; a process that goes on sweeps before its own first scratch. */
export async function sweepLeftovers(parent: string): Promise<void> {
  const { foundScratches, dropFound } = leftoversIn(parent);
  for (const { namespace, inUse } of await foundScratches()) if (!inUse) await dropFound(namespace);
}

/** In a shared temporary folder anybody can make such a folder: it must be ours, and hold a mark that is. */
function readScratch(parent: string, namespace: string): FoundScratch | undefined {
  try {
    const folder = join(parent, namespace);
    const file = join(folder, markFile);
    const ours = [lstatSync(folder), lstatSync(file)].every(({ uid }) => uid === process.getuid?.());
    if (!ours || !lstatSync(folder).isDirectory() || !lstatSync(file).isFile()) return undefined;
    const mark = readFileSync(file, 'utf8').trim();
    const made = madeAt(namespace, mark);
    if (made === undefined) return undefined;
    const owner = ownerOf(mark);
    return { namespace, madeAt: made, inUse: owner !== undefined && isRunning(owner) };
  } catch {
    return undefined;
  }
}
