/** The program as it is installed: a few files that start fast, with everything they need beside them. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

let folder: string;
beforeAll(() => {
  // Inside the project, where packages that stay outside the bundle are found.
  mkdirSync('build', { recursive: true });
  folder = mkdtempSync('build/bundle-test-');
  execFileSync(process.execPath, ['scripts/bundle.mjs', join(folder, 'bin')], { stdio: 'pipe' });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = (file: string): string => readFileSync(join(folder, 'bin', file), 'utf8');

/** What a file imports at once, and what those do. */
function imported(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, name] of text(file).matchAll(/^(?:import|export)\b[^'"]*?["']([^'"]+)["'];$/gm)) {
    if (name!.startsWith('./')) imported(name!.slice(2), found);
    else found.add(name!);
  }
  return found;
}

it('a command runs from a few files and loads no engine', () => {
  const command = readdirSync(join(folder, 'bin')).find((name) => /^check-command-.*\.js$/.test(name))!;
  const needed = imported(command, imported('isolde.js'));
  const files = [...needed].filter((name) => name.endsWith('.js'));
  const packages = [...needed].filter((name) => !name.endsWith('.js') && !name.startsWith('node:'));
  expect(files.length).toBeLessThan(20);
  expect(packages.sort()).toEqual(['commander', 'picocolors']);
});

it('the bundled command gives the verdict and its exit code', () => {
  const file = join(folder, 'tiny.txt');
  writeFileSync(file, 'w(1,5,0,0)\nr(1,5,1,1)\n');
  const out = execFileSync(process.execPath, [join(folder, 'bin/isolde.js'), 'check', file], {
    encoding: 'utf8',
  });
  expect(out).toBe(`${file}\ttrue\n`);
}, 30_000);

it('the program of a process of its own lies beside whoever starts it', () => {
  expect(existsSync(join(folder, 'bin/own-process-main.js'))).toBe(true);
  const starters = readdirSync(join(folder, 'bin')).filter(
    (name) => name.endsWith('.js') && text(name).includes('./own-process-main.js'),
  );
  expect(starters.length).toBeGreaterThan(0);
});

it('the package starts what the bundle makes', () => {
  const { bin, scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly bin: Record<string, string>;
    readonly scripts: Record<string, string>;
  };
  expect(bin).toEqual({ isolde: 'dist/bin/isolde.js' });
  expect(scripts.build).toContain('scripts/bundle.mjs dist/bin');
});
