/** A store that somebody names must be there: a slip of the pen is no empty store. */
import { existsSync } from 'node:fs';
import { IsoldeError } from '../errors.js';
import { isSharedUrl } from '../store/index.js';

export const usualStore = '.isolde';

/** Refuses a folder that does not exist; the usual one may not exist yet. */
export function requireStore(place: string): void {
  if (isSharedUrl(place) || place === usualStore || existsSync(place)) return;
  throw new IsoldeError('usage', `there is no store ${place}; isolde hunt --store ${place} makes one`);
}
