import { describe, expect, it } from 'vitest';
import { columnOf, nameKey, sameName, writtenNameKey } from './names.js';

const dialects = ['postgres', 'mysql', 'sqlite', 'duckdb'] as const;

describe('names', () => {
  it('keep what PostgreSQL keeps: its quoted names differ by case', () => {
    expect(nameKey('Id', 'postgres')).not.toBe(nameKey('id', 'postgres'));
    expect(sameName('T', 't', 'postgres')).toBe(false);
  });

  it('fold in the other dialects, ASCII alone where the engine does', () => {
    for (const dialect of ['mysql', 'sqlite', 'duckdb'] as const)
      expect(nameKey('Id', dialect)).toBe(nameKey('iD', dialect));
    expect(nameKey('É', 'sqlite')).not.toBe(nameKey('é', 'sqlite'));
    expect(nameKey('É', 'mysql')).toBe(nameKey('é', 'mysql'));
  });

  it('are the same exactly where their keys are', () => {
    const names = ['t', 'T', 'Tt', 'tT', 'É', 'é', 'İ', 'i̇', 'Orders', 'ORDERS', 'orders_'];
    for (const dialect of dialects)
      for (const a of names)
        for (const b of names)
          expect([a, b, sameName(a, b, dialect)]).toEqual([
            a,
            b,
            nameKey(a, dialect) === nameKey(b, dialect),
          ]);
  });

  it('are read as written: PostgreSQL folds what is not quoted, quotes go and doubled ones count once', () => {
    expect(writtenNameKey('Orders', 'postgres')).toBe('orders');
    expect(writtenNameKey('"Orders"', 'postgres')).toBe('Orders');
    expect(writtenNameKey('"a""b"', 'postgres')).toBe('a"b');
    expect(writtenNameKey('`Orders`', 'mysql')).toBe('orders');
    expect(writtenNameKey('[Orders]', 'sqlite')).toBe('orders');
  });

  it('find the column they mean', () => {
    const columns = [{ name: 'v' }, { name: 'ID' }, { name: 'id' }];
    expect(dialects.map((dialect) => columnOf(columns, 'id', dialect))).toEqual([2, 1, 1, 1]);
    expect(dialects.map((dialect) => columnOf(columns, 'V', dialect))).toEqual([-1, 0, 0, 0]);
    expect(columnOf(columns, 'x', 'duckdb')).toBe(-1);
  });
});
