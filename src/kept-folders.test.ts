import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { listKept, replaceFolder } from './kept-folders.js';

const shelf = mkdtempSync(join(tmpdir(), 'isolde-kept-'));
afterAll(() => rmSync(shelf, { recursive: true, force: true }));
const list = () => listKept(shelf, 'a.json', (text) => JSON.parse(text) as number);

it('replaces a folder as a whole, and lists what can be read', async () => {
  replaceFolder(join(shelf, 'x'), { 'a.json': '1', 'old.txt': '' });
  replaceFolder(join(shelf, 'x'), { 'a.json': '2' });
  expect(existsSync(join(shelf, 'x', 'old.txt'))).toBe(false);
  replaceFolder(join(shelf, 'broken'), { 'a.json': '{' });
  // What a killed process left behind is nothing.
  mkdirSync(join(shelf, 'y.new-1'));
  const { kept, problems } = await list();
  expect(kept).toEqual([{ id: 'x', folder: join(shelf, 'x'), file: 2 }]);
  expect(problems).toEqual([expect.stringContaining('broken')]);
});

it('of a shelf that is not there lists nothing, and says what cannot be written', async () => {
  expect(await listKept(join(shelf, 'none'), 'a.json', String)).toEqual({ kept: [], problems: [] });
  writeFileSync(join(shelf, 'file'), '');
  expect(() => replaceFolder(join(shelf, 'file', 'x'), { 'a.json': '1' })).toThrow(/cannot write/);
});
