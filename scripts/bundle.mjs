// The program in a few files: `node scripts/bundle.mjs DIRECTORY`. Node takes about a millisecond for every module it loads,
// and a command needs some 300 of them; in one file per command the same code starts in a fifth of the time
// (docs/decisions/bundle.md). Packages stay outside, so engines are loaded only when a target asks for them.
//
// All files lie side by side: `own-process-main.js` is started by its place beside the file that starts it.
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: bundle.mjs DIRECTORY');
  process.exit(1);
}
rmSync(directory, { recursive: true, force: true });
const bundle = await rolldown({
  input: { isolde: 'src/cli/main.ts', 'own-process-main': 'src/targets/exec/own-process-main.ts' },
  platform: 'node',
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
});
await bundle.write({
  dir: directory,
  format: 'esm',
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});
await bundle.close();
chmodSync(join(directory, 'isolde.js'), 0o755);
