import { expect, it } from 'vitest';
import { withCell } from './hunt-faults-page.js';

const shape = { columns: ['PostgreSQL, RR', 'DuckDB'], faults: ['dirty-read', 'lost-update'] };
const rowsOf = (page: string) => page.split('\n').filter((line) => line.startsWith('|'));

it('writes one cell and keeps the others', () => {
  const first = withCell('', shape, { fault: 'lost-update', heading: 'DuckDB (1.5.5)', text: '1.0 s' });
  expect(rowsOf(first)).toEqual([
    '| fault | PostgreSQL, RR | DuckDB (1.5.5) |',
    '| --- | --- | --- |',
    '| `dirty-read` | not measured | not measured |',
    '| `lost-update` | not measured | 1.0 s |',
  ]);
  const heading = 'PostgreSQL, RR (18.4)';
  const more = { columns: shape.columns, faults: ['dirty-read', 'late-snapshot', 'lost-update'] };
  expect(rowsOf(withCell(first, more, { fault: 'dirty-read', heading, text: '2.0 s' }))).toEqual([
    '| fault | PostgreSQL, RR (18.4) | DuckDB (1.5.5) |',
    '| --- | --- | --- |',
    '| `dirty-read` | 2.0 s | not measured |',
    '| `late-snapshot` | not measured | not measured |',
    '| `lost-update` | not measured | 1.0 s |',
  ]);
});
