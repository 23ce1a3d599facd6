import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTemporaryFolder } from './temporary-folder.js';

const place = mkdtempSync(join(tmpdir(), 'isolde-temporary-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('a temporary folder', () => {
  it('is gone when it was removed', async () => {
    const folder = await makeTemporaryFolder('x', place);
    writeFileSync(join(folder.path, 'file'), 'text');
    await folder.remove();
    expect(readdirSync(place)).toEqual([]);
  });

  it('of a killed process is removed by the next, others are left', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    const left = [`isolde-x-${process.ppid}-abc`, `isolde-y-${dead}-abc`, 'isolde-x-old'];
    for (const name of [`isolde-x-${dead}-abc`, ...left]) mkdirSync(join(place, name));
    const folder = await makeTemporaryFolder('x', place);
    expect(existsSync(join(place, `isolde-x-${dead}-abc`))).toBe(false);
    for (const name of left) expect(existsSync(join(place, name))).toBe(true);
    await folder.remove();
  });
});
