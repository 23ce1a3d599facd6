/** The program as it is installed: a few files that start fast, with everything they need beside them. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
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
  for (const [, name] of text(file).matchAll(/\b(?:import|export)\b[^'"`();=]*?["']([^'"]+)["'];/g)) {
    if (name!.startsWith('./')) imported(name!.slice(2), found);
    else found.add(name!);
  }
  return found;
}

it('a check of keys and values begins with a few files, and loads neither an engine nor what judges SQL', () => {
  const command = readdirSync(join(folder, 'bin')).find((name) => /^check-command-.*\.js$/.test(name))!;
  const needed = imported(command, imported('isolde.js'));
  const files = [...needed].filter((name) => name.endsWith('.js'));
  const packages = [...needed].filter((name) => !name.endsWith('.js') && !name.startsWith('node:'));
  expect(files.length).toBeGreaterThan(3);
  expect(files.length).toBeLessThan(12);
  expect(files.reduce((sum, file) => sum + text(file).length, 0)).toBeLessThan(350_000);
  expect(packages).toEqual([]);
  for (const slow of ['node:child_process', 'node:crypto', 'node:net', 'node:readline', 'node:zlib'])
    expect(needed).not.toContain(slow);
});

it('the bundled command gives the verdict and its exit code', () => {
  const file = join(folder, 'tiny.txt');
  writeFileSync(file, 'w(1,5,0,0)\nr(1,5,1,1)\n');
  const out = execFileSync(process.execPath, [join(folder, 'bin/isolde.js'), 'check', file], {
    encoding: 'utf8',
  });
  expect(out).toBe(`${file}\ttrue\n`);
}, 30_000);

it('says that Node is too old, before anything of it fails', () => {
  const old = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "18.20.8" })';
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', old, join(folder, 'bin/isolde.js'), '--version'],
    { encoding: 'utf8' },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 3,
    stdout: '',
    stderr: 'isolde: Node 18.20.8 is too old; Isolde needs Node 20 or later\n',
  });
}, 30_000);

it.each([
  ['an exception in a callback', 'setImmediate(() => { throw new TypeError("no such row"); })'],
  ['a promise that nobody waits for', 'void Promise.reject(new TypeError("no such row"))'],
])(
  '%s ends the program with the code of an error, not with 1, which means "found"',
  (_, fails) => {
    const broken = `const { write } = process.stdout; process.stdout.write = function (...args) { ${fails}; return write.apply(this, args); };`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        '--import',
        `data:text/javascript,${encodeURIComponent(broken)}`,
        join(folder, 'bin/isolde.js'),
        '--version',
      ],
      { encoding: 'utf8' },
    );
    expect({ status, stdout, stderr }).toEqual({
      status: 3,
      stdout: '0.1.0\n',
      stderr:
        'isolde: unexpected failure: no such row\nThis is a fault in Isolde. ISOLDE_DEBUG=1 shows where.\n',
    });
  },
  30_000,
);

it('a command that cannot be loaded ends with the code of an error', () => {
  const bin = join(folder, 'without');
  cpSync(join(folder, 'bin'), bin, { recursive: true });
  for (const name of readdirSync(bin)) if (name.startsWith('check-command-')) rmSync(join(bin, name));
  const { status, stderr } = spawnSync(process.execPath, [join(bin, 'isolde.js'), 'check', 'x'], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/^isolde: unexpected failure: Cannot find module .*check-command/);
  expect(status).toBe(3);
}, 30_000);

it('what judges SQL is loaded where a history holds SQL, packed or not', () => {
  const file = 'examples/histories/duckdb-raw.history.jsonl.gz';
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(folder, 'bin/isolde.js'), 'check', file, '--json'],
    { encoding: 'utf8' },
  );
  expect(JSON.parse(stdout)).toMatchObject({ format: 'isolde', oracle: 'mechanism' });
  expect(status).not.toBe(3);
}, 30_000);

it('the program of a process of its own lies beside whoever starts it', () => {
  expect(existsSync(join(folder, 'bin/own-process-main.js'))).toBe(true);
  const starters = readdirSync(join(folder, 'bin')).filter(
    (name) => name.endsWith('.js') && text(name).includes('./own-process-main.js'),
  );
  expect(starters.length).toBeGreaterThan(0);
});

it('the studio serves its built page until it is stopped', async () => {
  mkdirSync(join(folder, 'store'));
  const child = spawn(
    process.execPath,
    [join(folder, 'bin/isolde.js'), 'studio', join(folder, 'store'), '--no-open'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes('\n')) break;
  }
  const page = await fetch(printed.trim());
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('<script src="app.js" defer></script>');
  expect((await fetch(new URL('app.js', printed.trim()))).status).toBe(200);
  child.kill('SIGINT');
  expect(await exited).toBe(0);
}, 60_000);

it('the package starts what the bundle makes', () => {
  const { bin, scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly bin: Record<string, string>;
    readonly scripts: Record<string, string>;
  };
  expect(bin).toEqual({ isolde: 'dist/bin/isolde.js' });
  expect(scripts.build).toContain('scripts/bundle.mjs dist/bin');
});
