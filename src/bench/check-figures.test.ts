import { expect, it } from 'vitest';
import { figuresPage } from './check-figures.js';

it('puts the figures of other tools beside ours of the same size and level only', () => {
  const figure = (name: string, measured: string) => ({ name, measured, target: '≤ 1 s', pass: true });
  const page = figuresPage(
    [
      figure('25 × 200 × 20, serial store, causal', '0.1 s'),
      figure('25 × 200 × 20, snapshot store, causal', '0.2 s'),
      figure('50 × 200 × 20, serial store, causal', '0.3 s'),
      figure('100000 × 8, snapshot store, as begun, snapshot', '9 s'),
      figure('100000 × 8, snapshot store, as begun, causal', '0.8 s'),
    ],
    { scale: 1, load: 0 },
  );
  const rows = page.split('\n').filter((line) => /Plume|AWDIT/.test(line));
  expect(rows).toEqual([
    '| 25 × 200 × 20, causal | Plume 1.12 s | 0.1 s (serial store); 0.2 s (snapshot store) |',
    '| 50 × 200 × 20, causal | Plume 2.03 s | 0.3 s (serial store) |',
    '| 100000 × 8, read committed | AWDIT 0.44 s |  |',
    '| 100000 × 8, read atomic | AWDIT 0.58 s |  |',
    '| 100000 × 8, causal | AWDIT 1.66 s | 0.8 s (snapshot store, as begun) |',
  ]);
  expect(page).toContain('| 25 × 200 × 20, serial store, causal | 0.1 s | ≤ 1 s | yes |');
});
