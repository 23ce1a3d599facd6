import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-shell-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Commands without `--json`: they print lines for other programs or of a log, say that something is done, or run until they are stopped. */
const withoutJson = new Set([
  ...['completion', 'man', 'studio'],
  ...['fleet serve', 'fleet work', 'fleet logs', 'fleet cancel'],
]);

it('every command prints JSON where it is asked to', async () => {
  const man = (await isolde(['man'])).out;
  const parts = man.split(/^\.SS? /m).slice(1);
  const leaves = parts.filter((part) => /^"?isolde [a-z]/.test(part));
  expect(leaves.length).toBeGreaterThan(25);
  const lacking = leaves
    .filter((part) => !part.includes('\\-\\-json') && !part.includes('--json'))
    .map((part) => /^"?isolde ((?:[a-z-]+ ?)+)/.exec(part.replaceAll('\\-', '-'))![1]!.trim());
  expect(
    lacking.filter((name) => !withoutJson.has(name) && !['bugs', 'fleet', 'known'].includes(name)),
  ).toEqual([]);
}, 60_000);

it('every command says what its exit code means, in the man page, too', async () => {
  const man = (await isolde(['man'])).out;
  const commands = man
    .slice(man.indexOf('.SH COMMANDS'), man.indexOf('.SH EXIT'))
    .split(/^\.SS /m)
    .slice(1);
  const parents = ['bugs', 'fleet', 'known'];
  const silent = commands
    .filter((part) => !part.includes('Exit code'))
    .map((part) => /^"isolde ((?:[a-z-]+ ?)+)/.exec(part.replaceAll('\\-', '-'))![1]!.trim());
  expect(silent.filter((name) => !parents.includes(name))).toEqual([]);
  expect((await isolde(['bugs', 'list', '--help'])).out).toContain('Exit code');
}, 60_000);

describe('completion', () => {
  const script = join(folder, 'completion.bash');
  beforeAll(async () => {
    writeFileSync(script, (await isolde(['completion', 'bash'])).out);
  }, 60_000);

  /** What bash offers for the last of these words. */
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: it is the shell's
  const offered = (...words: string[]): string[] =>
    execFileSync(
      'bash',
      [
        '-c',
        'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _isolde; printf "%s\\n" "${COMPREPLY[@]}"',
        script,
        'isolde',
        ...words,
      ],
      { encoding: 'utf8', cwd: folder },
    )
      .split('\n')
      .filter((line) => line !== '');
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: it is the shell's

  it('offers commands, subcommands, options and then files', () => {
    expect(offered('hu')).toEqual(['hunt']);
    expect(offered('bugs', 're')).toEqual(['rerun']);
    expect(offered('hunt', 'duckdb:', '--onl')).toEqual(['--only-new']);
    expect(offered('bugs', 'rerun', '--jun')).toEqual(['--junit']);
    expect(offered('bugs', 'list', '--jun')).toEqual([]);
    expect(offered('check', 'compl')).toEqual(['completion.bash']);
  });

  it('is made for other shells as well, quotes and all', async () => {
    const zsh = (await isolde(['completion', 'zsh'])).out;
    expect(zsh).toMatch(/^#compdef isolde$/m);
    expect(zsh).toContain("'hunt:");
    const fish = (await isolde(['completion', 'fish'])).out;
    expect(fish).toContain("complete -c isolde -n 'not __fish_seen_subcommand_from");
    expect(fish).toMatch(
      /__fish_seen_subcommand_from bugs; and __fish_seen_subcommand_from rerun' -l junit -r/,
    );
    expect((await isolde(['completion', 'cmd'])).code).toBe(3);
  });
});

it('the manual page names every command and option, and nothing in it is a request by accident', async () => {
  const page = (await isolde(['man'])).out;
  expect(page).toMatch(/^\.TH ISOLDE 1 /);
  expect(page).toContain('.SS "isolde bugs rerun [ids...]"');
  expect(page).toContain('.B \\-t, \\-\\-target <url>');
  const requests = new Set(page.split('\n').flatMap((line) => /^([.']\S*)/.exec(line)?.[1] ?? []));
  expect([...requests].sort()).toEqual(['.B', '.I', '.PP', '.RI', '.SH', '.SS', '.TH', '.TP']);
});
