/**
 * What the README and the tutorial show as printed is what the commands print. Times, versions and dates may differ; a line `…` stands for any lines,
 * `…` in a line for any text.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-samples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Sample {
  readonly args: readonly string[];
  readonly lines: readonly string[];
}

/** Commands behind `$` in the code blocks of a page, with the lines below them. */
function samplesOf(page: string): Sample[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command, ...lines] = text.trimEnd().replace(/\n+/, '\n').split('\n');
        return { args: command!.replace(/^.*npx isolde /, '').split(' '), lines };
      }),
  );
}

const flexible = (text: string): string =>
  text
    .replaceAll(/\d+(\.\d+)? (s|ms|min)\b/g, 'TIME')
    .replaceAll(/\b\d+\.\d+\.\d+\b/g, 'VERSION')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE')
    .trimEnd();

/** The first line of a sample that is not where it should be; undefined: all are. */
function firstMissing(lines: readonly string[], printed: string): string | undefined {
  const got = flexible(printed.replaceAll(`${folder}/`, ''))
    .split('\n')
    .map((line) => line.trimEnd());
  let at = 0;
  let anywhere = true;
  for (const line of lines.map(flexible)) {
    if (line === '…') {
      anywhere = true;
      continue;
    }
    const pattern = new RegExp(`^${line.split('…').map(literally).join('.*')}$`, 'u');
    const found = got.findIndex((each, i) => i >= at && pattern.test(each));
    if (found < 0 || (!anywhere && found !== at)) return `${line}   (printed there: ${got[at]})`;
    at = found + 1;
    anywhere = false;
  }
  return undefined;
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** Files and stores of a command go to the folder of the test. */
function inFolder(args: readonly string[]): string[] {
  const words = args.map((word) => (/^(\.isolde|filed)\b/.test(word) ? join(folder, word) : word));
  const kept = ['hunt', 'bugs', 'demo'].includes(words[0]!);
  return kept ? [...words, '--store', join(folder, '.isolde')] : words;
}

describe.each([
  ['README.md', 1],
  ['docs/tutorial.md', 6],
] as const)('%s', (page, least) => {
  it('prints what it shows', async () => {
    const samples = samplesOf(page);
    expect(samples.length).toBeGreaterThanOrEqual(least);
    rmSync(join(folder, '.isolde'), { recursive: true, force: true });
    for (const { args, lines } of samples) {
      const { code, out, err } = await isolde(inFolder(args), { width: 120 });
      expect(code, err).not.toBe(3);
      expect(firstMissing(lines, out), `isolde ${args.join(' ')} printed\n${out}`).toBeUndefined();
    }
  }, 120_000);
});

it('a sample that drifts is noticed', () => {
  expect(firstMissing(['a', '…', 'c 1.2.3'], 'x\na\nb\nc 4.5.6')).toBeUndefined();
  expect(firstMissing(['a', 'c'], 'a\nb\nc')).toContain('c');
  expect(firstMissing(['…', 'a (… of 4)'], 'a (3 of 5)')).toContain('a (');
});
