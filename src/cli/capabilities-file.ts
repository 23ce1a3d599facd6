/** The capabilities file a command was given: read if it is there. */
import { readFile } from 'node:fs/promises';
import { type Capabilities, type LostFeature, parseCapabilities } from '../generate/index.js';
import { oneLine } from '../visible.js';
import { counted } from '../words.js';

export async function knownCapabilities(file: string | undefined): Promise<Capabilities | undefined> {
  if (file === undefined) return undefined;
  try {
    return parseCapabilities(await readFile(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A feature that is gone, in a line. */
export function describeLost({ feature, refused, example }: LostFeature): string {
  return `${feature} worked before and is refused now (${counted(refused, 'statement')}): ${oneLine(example).slice(0, 300)}`;
}
