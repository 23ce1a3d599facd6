/** The capabilities file a command was given: read if it is there. */
import { readFile } from 'node:fs/promises';
import { type Capabilities, parseCapabilities } from '../generate/index.js';

export async function knownCapabilities(file: string | undefined): Promise<Capabilities | undefined> {
  if (file === undefined) return undefined;
  try {
    return parseCapabilities(await readFile(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
