/** What flags accept and how they refuse: every message names the flag, the value and what would do. */
import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../errors.js';
import {
  contractNamed,
  durationOf,
  levelOf,
  limitsOf,
  oracleOf,
  positive,
  runOracles,
  timeOf,
} from './flags.js';
import { plainTable } from './plain-table.js';

const refused = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(IsoldeError);
    expect((error as IsoldeError).code).toBe('usage');
    return (error as IsoldeError).message;
  }
  throw new Error('it was accepted');
};

describe('a number', () => {
  it.each([
    ['1', 1],
    ['007', 7],
    [' 5 ', 5],
    ['1e3', 1000],
  ])('%j is %s', (text, number) => {
    expect(positive(text, '--n')).toBe(number);
  });

  it.each(['0', '-1', '1.5', '', ' ', 'x', 'NaN', 'Infinity', '5x'])('%j is refused', (text) => {
    expect(refused(() => positive(text, '--n'))).toBe(`--n takes a whole number above 0, not "${text}"`);
  });
});

describe('a time', () => {
  it.each([
    ['90', 90_000],
    ['90s', 90_000],
    ['1.5s', 1500],
    ['250ms', 250],
    ['10m', 600_000],
    ['10min', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    [' 5 s ', 5000],
    ['0s', 0],
  ])('%j is %s ms', (text, ms) => {
    expect(durationOf(text, '--for')).toBe(ms);
  });

  it.each(['', 's', '-5s', '5 years', '1h30m', '5S', '1e3s', '.5s'])('%j is refused', (text) => {
    expect(refused(() => durationOf(text, '--for'))).toBe(
      `--for takes a time such as 90s, 10m or 2h, not "${text}"`,
    );
  });

  it('to go on for is above nothing', () => {
    expect(timeOf('1ms', '--for')).toBe(1);
    expect(refused(() => timeOf('0s', '--for'))).toBe('--for takes a time above 0, not "0s"');
  });
});

describe('a level', () => {
  it.each([
    ['RU', 'read uncommitted'],
    ['rc', 'read committed'],
    ['RR', 'repeatable read'],
    ['SI', 'snapshot'],
    ['SER', 'serializable'],
    ['REPEATABLE-READ', 'repeatable read'],
    ['read_committed', 'read committed'],
    ['Serializable', 'serializable'],
  ])('%s is %s', (text, level) => {
    expect(levelOf(text)).toBe(level);
  });

  it.each(['', 'R', 'READ', 'chaos', 'constructor'])('%j is none', (text) => {
    expect(refused(() => levelOf(text))).toContain(`"${text}" is no isolation level; say read uncommitted`);
  });
});

describe('a contract and an oracle', () => {
  it('are found by their names', () => {
    expect(contractNamed('postgres:repeatable-read').id).toBe('postgres:repeatable-read');
    expect(contractNamed('vendor:postgres:repeatable-read').id).toBe('postgres:repeatable-read');
    for (const name of runOracles) expect(oracleOf(name)).toBe(name);
    expect(runOracles).toContain('mechanism');
  });

  it('are listed where the name is none', () => {
    expect(refused(() => contractNamed('postgres'))).toMatch(
      /no contract is called "postgres"; there are .*adya:PL-3/,
    );
    expect(refused(() => oracleOf('delphi'))).toBe(
      `no oracle that judges runs is called "delphi"; there are ${runOracles.join(', ')}`,
    );
  });
});

it('limits are milliseconds above 0', () => {
  expect(limitsOf({ statementTimeout: '100', lockTimeout: '50' })).toEqual({
    statementTimeoutMs: 100,
    lockTimeoutMs: 50,
  });
  expect(refused(() => limitsOf({ statementTimeout: '100', lockTimeout: '0' }))).toContain('--lock-timeout');
});

describe('a table', () => {
  it('has columns as wide as their longest cell, and no blanks at the ends of lines', () => {
    expect(
      plainTable([
        ['id', 'what'],
        ['1', 'a'],
        ['100', ''],
      ]),
    ).toBe('id   what\n1    a\n100');
  });

  it('shows no control character and keeps a cell to its line', () => {
    const text = plainTable([['a\nb', '\u001b[31mred']]);
    expect(text.split('\n').length).toBe(1);
    expect(text).not.toContain('\u001b');
  });

  it('of nothing is empty', () => {
    expect(plainTable([])).toBe('');
  });
});
