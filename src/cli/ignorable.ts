/** What may be ignored: a stored bug, by its id, or a signature, which may never have been seen here. The rest is a slip. */
import { IsoldeError } from '../errors.js';
import { type BugStore, openBugStore } from '../store/index.js';
import type { CliContext } from './context.js';

export async function checkIgnorable(
  store: BugStore,
  named: readonly string[],
  context: CliContext,
): Promise<void> {
  if (named.every((what) => /^[0-9a-f]{12}$/.test(what))) return;
  const { bugs, problems } = await store.list();
  for (const problem of problems) context.err(`isolde: ${problem}`);
  for (const what of named) {
    if (/^[0-9a-f]{12}$/.test(what) || bugs.some(({ id, signature }) => id === what || signature === what))
      continue;
    throw new IsoldeError(
      'usage',
      `"${what}" is neither the id of a stored bug nor a signature (12 hexadecimal digits)`,
    );
  }
}

/** The same for the store at a place. */
export async function checkIgnorableIn(
  place: string,
  named: readonly string[],
  context: CliContext,
): Promise<void> {
  const store = await openBugStore(place);
  try {
    await checkIgnorable(store, named, context);
  } finally {
    await store.close();
  }
}
