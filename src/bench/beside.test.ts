import { expect, test } from 'vitest';
import { pairFigures, pairsTable, printedFigures } from './beside.js';
import { printFigures } from './measure.js';

function printed(...measured: readonly [name: string, measured: string, target?: string][]): string {
  const lines: string[] = ['something else', ''];
  printFigures(
    'Hunt',
    measured.map(([name, text, target]) => ({
      name,
      measured: text,
      ...(target !== undefined && { target }),
    })),
    (line) => lines.push(line),
  );
  return [...lines, '', 'figure of nothing 12'].join('\n');
}

test('reads the tables that benchmarks print', () => {
  const text = printed(
    ['inference', '2.5 s (3 batches)', '≤ 10 s'],
    ['share', '99.1 %', '≥ 95 %'],
    ['speed', '120 txn/s'],
    ['left', '7 operations'],
    ['missing', 'not run'],
  );
  expect(printedFigures(text)).toEqual([
    { name: 'inference', value: 2.5, unit: 's', better: 'less' },
    { name: 'share', value: 99.1, unit: '%', better: 'more' },
    { name: 'speed', value: 120, unit: 'txn/s', better: 'more' },
    { name: 'left', value: 7, unit: 'operations', better: undefined },
  ]);
});

test('pairs figures by name, apart from numbers measured in it, and takes medians', () => {
  const rounds = (...values: readonly number[]) =>
    values.flatMap((value) => printedFigures(printed([`replay (mean size ${value}.5)`, `${value} s`])));
  expect(pairFigures(rounds(4, 1, 2), rounds(3, 3, 9))).toEqual([
    { name: 'replay (mean size 3.5)', unit: 's', before: 2, after: 3, better: 'less' },
  ]);
});

test('says what became worse by more than a twentieth', () => {
  const pair = (name: string, after: number, better: 'more' | 'less') => ({
    name,
    unit: 's',
    before: 100,
    after,
    better,
  });
  const table = pairsTable([
    pair('slower', 106, 'less'),
    pair('level', 104, 'less'),
    pair('rarer', 94, 'more'),
    pair('more', 120, 'more'),
  ]);
  expect(table.split('\n').slice(2)).toEqual([
    '| slower | 100 s | 106 s | 1.06 | less | yes |',
    '| level | 100 s | 104 s | 1.04 | less |  |',
    '| rarer | 100 s | 94 s | 0.94 | more | yes |',
    '| more | 100 s | 120 s | 1.20 | more |  |',
  ]);
});
