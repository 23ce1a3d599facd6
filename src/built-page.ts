/** Where the pages that `npm run build` makes of `studio/` lie: beside the bundled program, or in the folder of builds when this runs from elsewhere. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds a file of the build; undefined: it is not built. */
export function builtPageFolder(file: string): string | undefined {
  const places = ['./studio/', './bin/studio/', '../dist/bin/studio/'];
  return places
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((place) => existsSync(join(place, file)));
}
