import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { formatNames } from './format.js';
import { readContent } from './import.case.js';

const page = await readFile(new URL('../../../docs/formats/imported.md', import.meta.url), 'utf8');
const sections = page.split(/^### /m).slice(1);

describe('the page on imported histories', () => {
  it('describes every format', () => {
    for (const name of formatNames) expect(page).toContain(`| \`${name}\` |`);
  });

  it.each(
    sections.flatMap((section) => {
      const example = /```\w+\n([\s\S]*?)```/.exec(section);
      return example === null ? [] : [[/^`([\w-]+)`/.exec(section)![1]!, example[1]!]];
    }),
  )('shows an example of %s that is read as such', async (name, example) => {
    const read = await readContent(example);
    expect(read.format).toBe(name);
    expect(read.kind === 'kv' && read.history.txCount).toBeGreaterThan(0);
  });
});
