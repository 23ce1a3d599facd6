/** Parts of pages that a program writes, between `<!-- name -->` and `<!-- end of name -->`; what people write around them stays. */
import { readFile, writeFile } from 'node:fs/promises';
import { IsoldeError } from '../errors.js';

/** The page with this section replaced. */
export function withSection(page: string, name: string, text: string): string {
  const [opening, closing] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [start, end] = [page.indexOf(opening), page.indexOf(closing)];
  if (start < 0 || end < start) throw new IsoldeError('usage', `the page has no section "${name}"`);
  return `${page.slice(0, start)}${opening}\n${text.trim()}\n${page.slice(end)}`;
}

export async function writeSection(file: string, name: string, text: string): Promise<void> {
  await writeFile(file, withSection(await readFile(file, 'utf8'), name, text));
}
