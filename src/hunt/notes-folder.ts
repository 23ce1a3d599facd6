/**
 * Where a hunt keeps what concerns this machine alone: how far it came, which engines crashed, the sets of bugs it varied. That is the
 * store's folder. Beside a store that machines share it is `.isolde/shared/<hash>`, named by the store's URL without its password.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { publicUrl } from '../secrets.js';
import { isSharedUrl } from '../store/index.js';

export function notesFolder(store: string): string {
  if (!isSharedUrl(store)) return store;
  const hash = createHash('sha256').update(publicUrl(store)).digest('hex').slice(0, 12);
  return join('.isolde', 'shared', hash);
}
