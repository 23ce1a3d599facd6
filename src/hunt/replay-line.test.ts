import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type ReplayFacts, replayLine } from './replay-line.js';

const plain: ReplayFacts = { contract: 'reported', seed: '7' };

/** The words of a line as a shell hands them over. */
function words(line: string): string[] {
  const script = `set -- ${line}; for each in "$@"; do printf '%s\\0' "$each"; done`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('the line that repeats a round', () => {
  it('says no more than is needed', () => {
    expect(replayLine(plain)(12)).toBe('npx isolde hunt --seed 7 --rounds 12..12');
  });

  it('names a shared store without its password', () => {
    const store = 'postgres://ci:s3cret@db/bugs';
    expect(replayLine({ ...plain, reused: 'abc', store })(1)).toContain(`--store 'postgres://ci@db/bugs'`);
  });

  it('says everything that decides about rounds', () => {
    const line = replayLine({
      ...plain,
      ...{
        target: 'mariadb:',
        levels: ['repeatable read', 'serializable'],
        contract: 'vendor',
        profile: 'races',
      },
      ...{ oracles: ['mechanism', 'statement'], templates: ['a b.sql'], reused: 'abc', store: '/tmp/x y' },
    })(3);
    expect(words(line)).toEqual([
      ...['npx', 'isolde', 'hunt', 'mariadb:', '--level', 'repeatable read', '--level', 'serializable'],
      ...['--contract', 'vendor', '--profile', 'races', '--oracle', 'mechanism', '--oracle', 'statement'],
      ...[
        '--template',
        'a b.sql',
        '--reuse',
        'abc',
        '--store',
        '/tmp/x y',
        '--seed',
        '7',
        '--rounds',
        '3..3',
      ],
    ]);
  });

  it('names the store only with the bugs that were reused', () => {
    expect(replayLine({ ...plain, store: '/tmp/x' })(1)).not.toContain('--store');
  });

  it.each(["it's", '$(touch x)', '`id`', 'a;b', 'a b', '"quoted"', '*', 'a\\b', '~', '#x', "'"])(
    'hands %j over to a shell as it is',
    (text) => {
      const line = replayLine({ ...plain, target: `sqlite:${text}`, seed: text, templates: [text] })(1);
      expect(words(line)).toEqual([
        ...[
          'npx',
          'isolde',
          'hunt',
          `sqlite:${text}`,
          '--template',
          text,
          '--seed',
          text,
          '--rounds',
          '1..1',
        ],
      ]);
    },
  );

  it('holds no password', () => {
    const line = replayLine({ ...plain, target: 'postgres://u:hunter2@host/db?password=hunter2' })(1);
    expect(line).not.toContain('hunter2');
    expect(line).toContain('host');
  });
});
