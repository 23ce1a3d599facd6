import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

// Inside the project, where the program finds its packages.
mkdirSync('build', { recursive: true });
const folder = mkdtempSync(resolve('build', 'action-test-'));
const program = join(folder, 'bin/isolde.js');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(async () => {
  await promisify(execFile)(process.execPath, ['scripts/bundle.mjs', join(folder, 'bin')]);
}, 120_000);

/** Runs what action.yml runs. */
async function action(options: string, target = 'duckdb:'): Promise<number> {
  const env = {
    ...process.env,
    GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
    ISOLDE_ACTION_COMMAND: `${process.execPath} ${program}`,
    ISOLDE_ACTION_TARGET: target,
    ISOLDE_ACTION_FOR: '2m',
    ISOLDE_ACTION_STORE: join(folder, 'store'),
    ISOLDE_ACTION_JUNIT: join(folder, 'junit.xml'),
    ISOLDE_ACTION_OPTIONS: options,
  };
  try {
    await promisify(execFile)('bash', ['scripts/action.sh'], { env });
    return 0;
  } catch (error) {
    return (error as { code: number }).code;
  }
}
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

it('the action passes over what is known, and says so', async () => {
  // Round 0 meets DuckDB #17223, which is known.
  expect(await action('--rounds 0..0')).toBe(0);
  expect(read('junit.xml')).toMatch(
    /<testsuite name="isolde hunt" tests="2" failures="0" errors="0" skipped="1"/,
  );
  expect(read('junit.xml')).toContain('known as DuckDB #17223');
  expect(read('summary.md')).toMatch(/## Isolde on `duckdb:`[\s\S]*nothing new\.[\s\S]*known as DuckDB/);
}, 120_000);

it('the action fails on a bug once, and keeps it for the next run', async () => {
  const url = 'duckdb:?fault=lost-update';
  const options = '--rounds 0..20 --no-reuse';
  expect(await action(options, url)).toBe(1);
  expect(read('junit.xml')).toMatch(/failures="[1-9]/);
  expect(read('summary.md')).toMatch(/\d new bugs?\./);
  expect(await action(options, url)).toBe(0);
  expect(read('junit.xml')).toContain('in the store before');
  // The store is kept whatever the hunt found.
  const steps = readFileSync('action.yml', 'utf8');
  expect(steps).toMatch(/if: always\(\)\s+uses: actions\/cache\/save/);
  expect(steps).not.toMatch(/key:[^\n]*inputs\.target/);
}, 240_000);

it('what stands in its inputs is never evaluated', async () => {
  const injected = join(folder, 'injected');
  expect(await action(`--rounds 0..0 $(touch ${injected})`)).toBe(3);
  expect(() => readFileSync(injected)).toThrow();
}, 120_000);
