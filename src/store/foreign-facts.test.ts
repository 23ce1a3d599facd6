import { describe, expect, it } from 'vitest';
import { foreignKnown, foreignReplay, foreignRuns } from './foreign-facts.js';

describe('the command that found a bug', () => {
  // As `hunt/replay-line.ts` writes them.
  it.each([
    'npx isolde hunt --seed 7 --rounds 3..3',
    "npx isolde hunt 'duckdb@1.1.3:?threads=4' --level snapshot --contract vendor --profile no-op --oracle mechanism --reuse 3f9a2c41d07e --seed 'a b' --rounds 3..3",
    "npx isolde hunt 'postgres:?fault=lost-update' --level 'repeatable read' --seed 7 --rounds 12..12",
  ])('stays: %s', (line) => {
    expect(foreignReplay(line)).toBe(line);
  });

  it.each([
    'npx isolde hunt --seed 7 --rounds 3..3; rm -rf /',
    "npx isolde hunt --seed '7' --rounds 3..3 && reboot",
    "npx isolde hunt --seed '$(reboot)' --rounds 3..3",
    'npx isolde hunt --seed $(reboot) --rounds 3..3',
    "npx isolde hunt 'exec:sh -c reboot' --seed 7 --rounds 3..3",
    'npx isolde hunt postgres://ci@db/test --seed 7 --rounds 3..3',
    'npx isolde hunt postgres://ci:s3cret@db/test --seed 7 --rounds 3..3',
    "npx isolde hunt 'postgres:?binaries=/tmp/x' --seed 7 --rounds 3..3",
    'npx isolde hunt duckdb:/home/me/data.db --seed 7 --rounds 3..3',
    'npx isolde hunt --template /etc/passwd --seed 7 --rounds 3..3',
    'npx isolde hunt --profile ../x.json --seed 7 --rounds 3..3',
    'npx isolde hunt --store /tmp --seed 7 --rounds 3..3',
    'npx isolde hunt --known /tmp --seed 7 --rounds 3..3',
    'npx isolde hunt --seed 7 --rounds',
    'npx isolde hunt --seed 7',
    'npx isolde hunt',
    'npx isolde bugs rerun x',
    'npx evil hunt --seed 7 --rounds 3..3',
    'npx isolde hunt --seed 7 --rounds 3..3\nreboot',
    'npx isolde hunt --seed 7\u001b[2J --rounds 3..3',
    `npx isolde hunt --seed ${'7'.repeat(3_000)} --rounds 3..3`,
  ])('does not: %.80s', (line) => {
    expect(foreignReplay(line)).toBeUndefined();
  });
});

describe('the runs of a bug', () => {
  const target = { name: 'duckdb', version: 'v1.5.5' };
  const found = { kind: 'found', at: '2026-01-31T12:00:00Z', target, seed: '7' } as const;
  const tried = { ...found, kind: 'rerun', outcome: 'fixed', shown: 0, runs: 3, seed: undefined } as const;

  it('stay, without what no engine says of itself, and without passwords', () => {
    const url = 'postgres://ci:s3cret@db/test';
    const long = 'x'.repeat(10_000);
    expect(
      foreignRuns([
        found,
        tried,
        { ...found, target: { ...target, version: long } },
        { ...found, seed: long },
        { ...found, target: { ...target, settings: { a: long } } },
        { ...found, target: { ...target, url } },
      ]),
    ).toEqual([found, tried, { ...found, target: { ...target, url: 'postgres://ci:***@db/test' } }]);
  });

  it('are the last ones of very many', () => {
    const many = Array.from({ length: 10_005 }, (_, i) => ({ ...found, seed: String(i) }));
    expect(foreignRuns(many).length).toBe(10_000);
    expect(foreignRuns(many).at(-1)).toEqual(many.at(-1));
  });
});

it('what a bug was taken for is told by the names it has here', () => {
  const listed = [{ id: 'duckdb-17223', name: 'DuckDB #17223', url: 'https://github.com/duckdb' }];
  const evil = { name: 'click here', url: 'https://evil.example', why: 'the same behaviour' };
  const known = {
    verdict: 'duplicate',
    why: 'it shows',
    reports: [{ id: 'duckdb-17223', ...evil }],
  } as const;
  expect(foreignKnown(known, listed)).toEqual({
    ...known,
    reports: [{ ...listed[0], why: 'the same behaviour' }],
  });
  expect(foreignKnown({ ...known, reports: [{ id: 'other', ...evil }] }, listed)).toBeUndefined();
  expect(foreignKnown({ ...known, why: 'x'.repeat(9_999) }, listed)).toBeUndefined();
  const unique = { verdict: 'unique', why: 'nothing is like it', reports: [] } as const;
  expect(foreignKnown(unique, listed)).toEqual(unique);
});
