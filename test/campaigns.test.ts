/** Short forms of the campaigns (`npm run campaign`), as processes of a build of their own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canLimitFileSize } from '../src/targets/exec/file-size-limit.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';

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
        // Most of a trial is waiting for its moment.
        '--jobs',
        '2',
      );
      expect(out, err).toContain('No failures.');
      expect(out).toContain("kill -- --count 4 --seed 1 --target 'duckdb:' --target 'sqlite:' --jobs 2`");
      expect(code).toBe(0);
    },
    240_000,
  );

  it.skipIf(process.platform !== 'linux')(
    'soak: a hunt keeps no descriptors, connections and files; its memory is bounded',
    () => {
      const { out, err } = campaign('soak', '--minutes', '0.3', '--target', 'duckdb:');
      for (const measure of ['descriptors', 'connections', 'server processes', 'temporary, MB'])
        expect(out, err).toMatch(new RegExp(`\\| duckdb: \\| ${measure} \\| \\d+ \\| \\d+ \\| 0 \\|`));
      // Whether memory grows is for minutes: in the first seconds the collector lets the heap grow.
      const [, late] = /\| hunt, MB \| \d+ \| (\d+) \|/.exec(out)!;
      expect(Number(late)).toBeLessThan(500);
      expect(out).not.toContain('the hunt ended with');
    },
    240_000,
  );

  it.skipIf(!canLimitFileSize())(
    'recovery: SQLite, killed or unable to write, keeps what was committed',
    () => {
      const { code, out, err } = campaign('recovery', '--count', '2', '--target', 'sqlite:?process=own');
      expect(out, err).toContain('No failures.');
      expect(code).toBe(0);
      for (const fault of ['kill', 'write-error'])
        expect(out).toMatch(new RegExp(`\\| ${fault} \\| [1-9]\\d* \\| [1-9]\\d* \\| \\d+ \\| 0 \\|`));
    },
    240_000,
  );

  it.skipIf(process.platform !== 'linux' || postgresAvailable() !== undefined)(
    'fleet: killed workers and a killed server lose no job and no bug',
    () => {
      const { code, out, err } = campaign('fleet', '--count', '2');
      expect(out, err).toContain('No failures.');
      expect(code).toBe(0);
      expect(out).toMatch(/\| 4 workers \| 2 \| 1 \| 16 \| 16 \|/);
    },
    240_000,
  );
});
