import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileError } from '../errors.js';
import { readState } from './state-file.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-state-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the state of a reduction', () => {
  it.each([
    ['without a best case', { answers: {} }],
    ['with a best case that is none', { answers: {}, best: 7 }],
    ['without answers', { best: {} }],
    ['with an answer that is none', { answers: { __proto__: 1, a: 'perhaps' }, best: {} }],
  ])('%s is refused with file and field', async (_, fields) => {
    const file = join(folder, 'state.json');
    await writeFile(file, JSON.stringify({ format: 'isolde-reduction', version: 1, start: 'x', ...fields }));
    await expect(readState(file)).rejects.toThrow(FileError);
    await expect(readState(file)).rejects.toThrow(/state\.json:1 \(/);
  });
});
