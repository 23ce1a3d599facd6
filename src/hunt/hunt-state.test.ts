import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HuntName, HuntStateFile } from './hunt-state.js';

const name: HuntName = {
  target: 'duckdb 1.5',
  levels: 'snapshot',
  contract: 'duckdb:snapshot',
  profile: 'mixed',
  seed: 'demo',
};

describe('the state of a hunt', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'isolde-hunt-state-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('is not there before the first write, and comes back as it was written', async () => {
    const file = new HuntStateFile(folder, name);
    expect(await file.read()).toBeUndefined();
    await file.write({ finished: 12, seconds: 3.5, raw: 2 });
    expect(await new HuntStateFile(folder, { ...name }).read()).toEqual({
      ...name,
      finished: 12,
      seconds: 3.5,
      raw: 2,
    });
  });

  it('is one of its own for every part of the name, also where parts could run together', async () => {
    const others: HuntName[] = [
      ...(Object.keys(name) as (keyof HuntName)[]).map((key) => ({ ...name, [key]: `${name[key]}x` })),
      { ...name, target: 'duckdb 1.', levels: '5snapshot' },
    ];
    const paths = [name, ...others].map((each) => new HuntStateFile(folder, each).path);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('ends with the last of many writes, and leaves no file beside it', async () => {
    const file = new HuntStateFile(folder, name);
    const writes = Array.from({ length: 20 }, (_, i) => file.write({ finished: i, seconds: 0, raw: 0 }));
    await Promise.all(writes);
    expect((await file.read())?.finished).toBe(19);
    expect(await readdir(join(folder, 'hunts'))).toHaveLength(1);
  });

  it('says how to go on when it is of another format, and where it is broken', async () => {
    const file = new HuntStateFile(folder, name);
    await file.write({ finished: 1, seconds: 0, raw: 0 });
    const text = await readFile(file.path, 'utf8');
    await writeFile(file.path, text.replace('"format": 1', '"format": 2'));
    await expect(file.read()).rejects.toThrow('--restart begins at round 0 again');
    await writeFile(file.path, text.replace('"finished": 1', '"finished": -1'));
    await expect(file.read()).rejects.toThrow('finished');
    await writeFile(file.path, text.slice(0, 20));
    await expect(file.read()).rejects.toThrow(file.path);
  });
});
