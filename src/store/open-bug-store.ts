/** Opens whichever store a place names: a folder, or a PostgreSQL that machines share. */
import type { BugStore } from './bug-store.js';
import { isSharedUrl } from './shared/shared-database.js';
import { SharedStore } from './shared/shared-store.js';
import { openStore } from './store.js';

export function openBugStore(place = '.isolde'): Promise<BugStore> {
  return isSharedUrl(place) ? SharedStore.open(place) : openStore(place);
}
