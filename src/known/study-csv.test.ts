import { describe, expect, it } from 'vitest';
import { readStudy } from './study-csv.js';

const head = Array.from({ length: 87 }, (_, i) => (i === 0 ? 'Database' : i === 1 ? ' Bug ID' : `c${i}`));

/** A row with these cells and nothing else. */
const row = (cells: Readonly<Record<number, string>>) =>
  head.map((_, i) => `"${(cells[i] ?? '').replaceAll('"', '""')}"`).join(',');
const read = (...rows: string[]) => readStudy([head.join(','), ...rows].join('\n'), 'study.csv');

const plain = {
  0: 'MySQL',
  1: '42',
  2: 'https://bugs.mysql.com/bug.php?id=42',
  3: 'A title',
  5: 'Fixed',
  6: '8.0.1',
  7: '8.0.2',
  12: 'REAPEATED READ',
  13: 'Pessimistic',
  20: '2',
  31: 'Yes',
  37: 'YES',
  42: 'Yes',
  60: 'Yes',
  65: '-',
  68: 'Incorrect query result',
};
const shifted = {
  0: 'TiDB',
  1: '7',
  2: 'https://github.com/pingcap/tidb/issues/7',
  4: 'Phantom after changes',
  5: 'mysql> delete from t;',
  6: 'Confirmed',
  7: '8.1',
  12: 'ALL',
  13: 'Optimistic',
  14: '1',
  20: '3',
  32: 'Yes',
  38: 'Yes',
  40: '-',
};

describe('the study’s table', () => {
  it('is read as facts: no sentence of it is kept', () => {
    const [entry] = read(row(plain));
    expect(entry).toMatchObject({
      id: 'mysql-42',
      name: 'MySQL #42',
      engine: 'mysql',
      status: 'fixed',
      symptom: 'wrong-read',
      affected: ['8.0.1'],
      fixed: ['8.0.2'],
      features: {
        levels: ['repeatable read'],
        mode: 'pessimistic',
        transactions: 2,
        has: ['begin', 'key', 'select', 'update'],
      },
    });
    expect(JSON.stringify(entry)).not.toContain('A title');
  });

  it('reads a row without a summary one column on, seven of its flags, and the rest from its text', () => {
    expect(read(row(shifted))[0]).toMatchObject({
      id: 'tidb-7',
      status: 'confirmed',
      symptom: 'wrong-read',
      affected: ['8.1'],
      features: {
        levels: [],
        mode: 'optimistic',
        transactions: 3,
        has: ['delete', 'start-transaction', 'update'],
      },
    });
  });

  it('makes the address from the id where it was copied from another row, and keeps each id once', () => {
    const copied = { ...plain, 1: '43', 42: '' };
    const again = { ...shifted, 0: 'MySQL', 1: '43', 2: 'https://bugs.mysql.com/bug.php?id=43&x=1' };
    const entries = read(row(copied), row(again));
    expect(entries.map(({ id }) => id)).toEqual(['mysql-43']);
    expect(entries[0]).toMatchObject({
      url: 'https://bugs.mysql.com/bug.php?id=43',
      features: { has: ['begin', 'delete', 'key', 'select', 'start-transaction', 'update'] },
    });
    expect(read(row(copied))[0]).toMatchObject({ url: 'https://bugs.mysql.com/bug.php?id=43', affected: [] });
  });

  it('refuses another table, and engines it does not know', () => {
    expect(() => readStudy('a,b\n1,2', 'x.csv')).toThrow(
      'x.csv:1: this is not the table of transaction bugs',
    );
    expect(() => read(row({ ...plain, 0: 'Oracle' }))).toThrow(
      'study.csv:2 (Database): no engine is called "Oracle"',
    );
  });
});
