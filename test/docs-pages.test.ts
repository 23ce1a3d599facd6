/** The pages can be followed: every page is in the index, every link leads somewhere, every named source file exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => join('docs', file));
const all = [...pages, 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'examples/README.md'];
const textOf = (page: string) => readFileSync(page, 'utf8');

function linksOf(page: string): string[] {
  const text = textOf(page).replaceAll(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => normalize(join(dirname(page), link)));
}

describe('documentation', () => {
  it.each(all)('%s links to what exists', (page) => {
    expect(linksOf(page).filter((link) => !existsSync(link))).toEqual([]);
  });

  // In reports `test/1` is a row.
  const written = all.filter((page) => !page.startsWith(join('docs', 'reports')));
  it.each(written)('%s names source files that exist', (page) => {
    const named = [...textOf(page).matchAll(/`((?:src|test|scripts|examples)\/[\w./-]+)`/g)].map(
      ([, path]) => path!,
    );
    expect(
      named.filter(
        (path) =>
          !/\bmy(db|oracle)\b/.test(path) && !existsSync(path) && !existsSync(join(dirname(page), path)),
      ),
    ).toEqual([]);
  });

  it('names functions and classes that exist in docs/architecture.md', () => {
    const walk = textOf('docs/architecture.md');
    const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join('src', file), 'utf8'))
      .join('\n');
    const namesLike = (pattern: RegExp) => [...walk.matchAll(pattern)].map(([, name]) => name!);
    const missing = (names: readonly string[], kinds: string) =>
      names.filter((name) => !new RegExp(`^export (${kinds}) ${name}\\b`, 'm').test(source));
    const functions = namesLike(/`(\w+)\(\)`/g);
    expect(functions.length).toBeGreaterThan(20);
    expect(missing(functions, '(?:async )?function')).toEqual([]);
    const types = namesLike(/`([A-Z][a-z]\w*)`/g);
    expect(types.length).toBeGreaterThan(2);
    expect(missing(types, '(?:abstract )?class|interface|type')).toEqual([]);
  });

  it('is reachable from docs/README.md', () => {
    const reached = new Set(['docs/README.md']);
    for (const page of reached)
      for (const link of linksOf(page))
        if (link.startsWith('docs/') && link.endsWith('.md')) reached.add(link);
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});
