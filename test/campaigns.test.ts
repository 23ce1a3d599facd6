/** Short forms of the campaigns (`npm run campaign`), as processes of a build of their own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-campaigns-'));
  const compiler = 'node_modules/typescript/bin/tsc';
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.tools.json', '--outDir', join(folder, 'built')]);
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  symlinkSync(resolve('package.json'), join(folder, 'package.json'));
  symlinkSync(resolve('known'), join(folder, 'known'));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function campaign(...args: readonly string[]) {
  const program = join(folder, 'built', 'bench', 'campaigns', 'main.js');
  const run = spawnSync(process.execPath, [program, ...args, '--no-write'], { encoding: 'utf8' });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

describe('campaigns', () => {
  it('fuzz: changed inputs are read or refused', () => {
    const { code, out, err } = campaign('fuzz', '--count', '1000');
    expect(out, err).toContain('No failures.');
    expect(code).toBe(0);
    expect(out).toMatch(/\| all \| 1\d{3} \| [1-9]\d* \| [1-9]\d* \| 0 \|/);
  }, 120_000);

  it.skipIf(process.platform !== 'linux')(
    'kill: a stopped command loses nothing and leaves nothing',
    () => {
      const { code, out, err } = campaign(
        'kill',
        '--count',
        '4',
        '--target',
        'duckdb:',
        '--target',
        'sqlite:',
      );
      expect(out, err).toContain('No failures.');
      expect(code).toBe(0);
    },
    240_000,
  );

  it.skipIf(process.platform !== 'linux')(
    'soak: a hunt uses no more in the end than in the beginning',
    () => {
      const { code, out, err } = campaign('soak', '--minutes', '0.3', '--target', 'duckdb:');
      expect(out, err).toContain('No failures.');
      expect(code).toBe(0);
    },
    240_000,
  );
});
