import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readWholeHistory, writeWholeHistory } from './history-file.js';

it('the page about history files shows one exactly as it is written', async () => {
  const page = await readFile(new URL('../../docs/formats/history.md', import.meta.url), 'utf8');
  const example = /^```jsonl\n([\s\S]*?)^```$/m.exec(page)![1]!;
  const folder = await mkdtemp(join(tmpdir(), 'isolde-docs-'));
  try {
    const path = join(folder, 'example.history.jsonl');
    await writeFile(path, example);
    const history = await readWholeHistory(path);
    expect(history.operations).toHaveLength(4);
    await writeWholeHistory(path, history);
    expect(await readFile(path, 'utf8')).toBe(example);
  } finally {
    await rm(folder, { recursive: true });
  }
});
