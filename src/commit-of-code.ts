/** Which code measured something: for pages that keep figures of many days. */
import { execFileSync } from 'node:child_process';

/** The commit that runs, with a + where the code has changes besides. */
export function commitOfCode(): string {
  const git = (...words: string[]): string => execFileSync('git', words, { encoding: 'utf8' }).trim();
  return `${git('rev-parse', '--short=10', 'HEAD')}${git('status', '--porcelain', 'src') === '' ? '' : '+'}`;
}
