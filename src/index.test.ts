import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as isolde from './index.js';

const pages = readdirSync('docs', { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.md'));

it.each(pages)('every function %s imports from the package is there', (page) => {
  const text = readFileSync(join('docs', page), 'utf8');
  const names = [...text.matchAll(/import \{([^}]*)\} from 'isolde-db'/g)]
    .flatMap(([, list]) => list!.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
  for (const name of names) expect(isolde, `${page} imports ${name}`).toHaveProperty(name);
});
