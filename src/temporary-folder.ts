/**
 * A temporary folder that does not outlive its process. It is removed by whoever asked for it; if the process exits
 * before, an exit hook removes it; if the process is killed, the next one that needs such a folder does, for the name says
 * whose it was.
 */
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from './running.js';

export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

const held = new Set<string>();
let hooked = false;

/** Makes a folder `isolde-PURPOSE-PID-…` for this user alone. */
export async function makeTemporaryFolder(purpose: string, place = tmpdir()): Promise<TemporaryFolder> {
  await sweep(purpose, place);
  const path = await mkdtemp(join(place, `isolde-${purpose}-${process.pid}-`));
  held.add(path);
  if (!hooked) process.on('exit', removeHeld);
  hooked = true;
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      held.delete(path);
    },
  };
}

function removeHeld(): void {
  for (const path of held) rmSync(path, { recursive: true, force: true });
}

/** Removes what killed processes left. Folders of other users cannot be removed, and are none of ours. */
async function sweep(purpose: string, place: string): Promise<void> {
  const pattern = new RegExp(`^isolde-${purpose}-(\\d+)-`);
  const names = await readdir(place).catch(() => []);
  for (const name of names) {
    const owner = Number(pattern.exec(name)?.[1] ?? 0);
    if (owner > 0 && owner !== process.pid && !isRunning(owner))
      await rm(join(place, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
