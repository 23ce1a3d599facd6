import { describe, expect, it } from 'vitest';
import { columnKey, TableMap, tableKey } from './names.js';

describe('names', () => {
  it('keeps what PostgreSQL keeps: its quoted names differ by case', () => {
    expect(columnKey('Id', 'postgres')).not.toBe(columnKey('id', 'postgres'));
    expect(tableKey('T', 'postgres')).not.toBe(tableKey('t', 'postgres'));
  });

  it('folds columns of the other dialects, ASCII alone where the engine does', () => {
    for (const dialect of ['mysql', 'sqlite', 'duckdb'] as const)
      expect(columnKey('Id', dialect)).toBe(columnKey('iD', dialect));
    expect(columnKey('É', 'sqlite')).not.toBe(columnKey('é', 'sqlite'));
    expect(columnKey('É', 'mysql')).toBe(columnKey('é', 'mysql'));
  });

  it('finds a MySQL table by its spelling, or by any if only one is there', () => {
    const tables = new TableMap<string>('mysql');
    expect(tables.set('Orders', 'one')).toBe('orders');
    expect(tables.get('ORDERS')).toBe('one');
    expect(tables.set('orders', 'two')).toBe('orders');
    expect(tables.get('orders')).toBe('two');
    expect(tables.get('Orders')).toBe('one');
  });
});
