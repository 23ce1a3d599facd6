/**
 * Loads the properties of a file that the user wrote and names on the command line. The file is a program, and loading it runs
 * it: that is the user's wish, and the only way in which Isolde runs code that is not its own. Nothing imported or stored is
 * ever loaded this way.
 *
 * `.mjs` and `.js` load everywhere. `.ts` loads where Node strips types itself (from 22.18 on).
 */
import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText, IsoldeError } from '../errors.js';
import { isProperty, type Property } from '../properties/index.js';

export async function loadProperties(file: string): Promise<readonly Property[]> {
  const path = resolve(file);
  if (!existsSync(path)) throw new IsoldeError('file-system', `there is no file ${file}`);
  const stripsTypes = (process.features as { readonly typescript?: unknown }).typescript;
  if (extname(path) === '.ts' && (stripsTypes === undefined || stripsTypes === false))
    throw new IsoldeError(
      'usage',
      `Node ${process.versions.node} cannot load ${file}: TypeScript needs Node 22.18 or newer. ` +
        'Compile it first (npx tsc), or write JavaScript: a .mjs file with // @ts-check is type-checked all the same',
    );
  let loaded: Readonly<Record<string, unknown>>;
  try {
    loaded = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new IsoldeError('bad-file', `${file} cannot be loaded: ${errorText(cause)}`, { cause });
  }
  const found = [...new Set(Object.values(loaded).flatMap((each) => (Array.isArray(each) ? each : [each])))];
  const properties = found.filter(isProperty);
  if (properties.length > 0) return properties;
  throw new IsoldeError(
    'bad-file',
    `${file} exports no property; export one: export default property('name', ({ db, pick }) => …)`,
  );
}
