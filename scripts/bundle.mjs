// The program in a few files: `node scripts/bundle.mjs DIRECTORY`. Node takes about a millisecond for every module it loads,
// and a command needs some 300 of them; in one file per command the same code starts in a fifth of the time
// (docs/decisions/bundle.md). Packages stay outside, so engines are loaded only when a target asks for them; but for those
// that every command begins with, whose licences then lie beside the files.
//
// All files lie side by side: `own-process-main.js` is started by its place beside the file that starts it, and the studio's page
// lies beside them in `studio/`.
import { chmodSync, copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundleStudio } from './bundle-studio.mjs';

/** Packages that become part of the program. */
const included = ['commander', 'picocolors'];

/** Our modules that do something when they are loaded; the others are left out where a command uses nothing of them. */
const doesSomething =
  /[\\/]src[\\/](?:cli[\\/](?:main|node-version)|targets[\\/]exec[\\/]own-process-main)\.ts$/;

/** Commander could run commands that are programs of their own. Ours are not, so it never needs what would start them. */
const startsNoPrograms = {
  name: 'starts-no-programs',
  resolveId: (id, importer) =>
    id === 'node:child_process' && /[\\/]commander[\\/]/.test(importer ?? '') ? '\0no-programs' : null,
  load: (id) => (id === '\0no-programs' ? 'export {};' : null),
};

/** What a check of a key-value history needs. */
const inEveryCheck =
  /[\\/]src[\\/](?:check[\\/](?:(?:kv|graph|workloads)[\\/].*|levels|recorded|oracle|expl[a-z]+|observation|dot)|histories[\\/](?:kv-[a-z]+|initial-values|lossy-text|plain-operations|formats[\\/](?!own|pisco|unpack|tar|spool|write|convert|samples|index)[a-z-]+)|contracts[\\/](?:finding-kinds|anomaly))\.ts$/;

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: bundle.mjs DIRECTORY');
  process.exit(1);
}
rmSync(directory, { recursive: true, force: true });
const bundle = await rolldown({
  input: { isolde: 'src/cli/main.ts', 'own-process-main': 'src/targets/exec/own-process-main.ts' },
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  plugins: [startsNoPrograms],
  treeshake: {
    moduleSideEffects: [
      { test: doesSomething, sideEffects: true },
      { test: /[\\/]src[\\/]/, sideEffects: false },
    ],
  },
  external: (id, importer) =>
    !included.includes(id) && !/^[./\0]/.test(id) && startsNoPrograms.resolveId(id, importer) === null,
});
await bundle.write({
  dir: directory,
  format: 'esm',
  sourcemap: true,
  // Half the text is half the time until it is compiled. Names stay: stack traces show them.
  minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  // Every file costs a millisecond, however small: what all commands begin with, and what every check of a key-value history needs.
  codeSplitting: {
    groups: [
      {
        name: 'base',
        test: /[\\/](?:commander|picocolors)[\\/]|[\\/]src[\\/](?:errors|json|file-problem|words|secrets|visible|cli[\\/](?:context|fetch-versions))\.ts$/,
      },
      {
        name: 'key-values',
        test: inEveryCheck,
        includeDependenciesRecursively: false,
      },
    ],
  },
});
await bundle.close();
chmodSync(join(directory, 'isolde.js'), 0o755);
for (const name of included)
  copyFileSync(join('node_modules', name, 'LICENSE'), join(directory, `LICENSE.${name}`));
await bundleStudio(join(directory, 'studio'));
