// The studio's page: `node scripts/bundle-studio.mjs DIRECTORY`. One script, one style sheet, one document; everything is in them,
// for the page may load nothing from anywhere else. Beside it the script and style of a bug's own page, which become part of each report.html.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Packages that become part of the page; their licences lie beside it. */
const included = ['preact', '@dagrejs/dagre', '@dagrejs/graphlib', 'uplot'];

/** Those that become part of every report.html, which carries their licences itself. */
const inReport = ['preact', '@dagrejs/dagre', '@dagrejs/graphlib'];

const source = fileURLToPath(new URL('../studio/', import.meta.url));
const require = createRequire(import.meta.url);

export async function bundleStudio(directory) {
  mkdirSync(directory, { recursive: true });
  // The studio's page, and a bug's page alone (`report.html`).
  for (const [name, entry] of [
    ['app.js', 'main.tsx'],
    ['report.js', 'report.tsx'],
  ]) {
    const bundle = await rolldown({
      input: join(source, entry),
      platform: 'browser',
      tsconfig: join(source, 'tsconfig.json'),
      transform: { target: 'es2022' },
    });
    await bundle.write({ file: join(directory, name), format: 'iife', minify: true, sourcemap: false });
    await bundle.close();
  }
  writeFileSync(
    join(directory, 'report.js'),
    inlineScript(readFileSync(join(directory, 'report.js'), 'utf8')),
  );
  cpSync(join(source, 'style.css'), join(directory, 'report.css'));
  const styles = [require.resolve('uplot/dist/uPlot.min.css'), join(source, 'style.css')];
  writeFileSync(join(directory, 'app.css'), styles.map((file) => readFileSync(file, 'utf8')).join('\n'));
  for (const name of included)
    cpSync(licenceOf(name), join(directory, `LICENSE.${name.replace(/.*\//, '')}`));
  for (const name of ['index.html', 'icon.svg']) cpSync(join(source, name), join(directory, name));
}

function licenceOf(name) {
  const folder = join('node_modules', name);
  return join(
    folder,
    readdirSync(folder).find((file) => /^licen[cs]e/i.test(file)),
  );
}

/** A script that stands inside a document: with the licences of what it includes, and nothing in it that ends its element. */
function inlineScript(script) {
  const licences = inReport
    .map((name) => `${name}\n\n${readFileSync(licenceOf(name), 'utf8').trim()}`)
    .join('\n\n');
  const text = `/*!\nThis page includes:\n\n${licences}\n*/\n${script}`;
  if (/<\/script|<!--/i.test(text))
    throw new Error('the script of report.html holds what ends a script element');
  return text;
}

const [program, directory] = process.argv.slice(1);
if (program === fileURLToPath(import.meta.url)) {
  if (directory === undefined) {
    console.error('usage: bundle-studio.mjs DIRECTORY');
    process.exit(1);
  }
  await bundleStudio(directory);
}
