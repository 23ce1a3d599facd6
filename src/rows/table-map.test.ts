import { describe, expect, it } from 'vitest';
import { TableMap } from './table-map.js';

describe('tables by name', () => {
  it('are found by their spelling in MySQL, or by any if only one is there', () => {
    const tables = new TableMap<string>('mysql');
    expect(tables.set('Orders', 'one')).toBe('orders');
    expect(tables.get('ORDERS')).toBe('one');
    expect(tables.set('orders', 'two')).toBe('orders');
    expect(tables.get('orders')).toBe('two');
    expect(tables.get('Orders')).toBe('one');
  });

  it('are two in PostgreSQL and one in SQLite when case alone differs', () => {
    const two = new TableMap<string>('postgres');
    two.set('T', 'one');
    two.set('t', 'two');
    expect([two.get('T'), two.get('t')]).toEqual(['one', 'two']);
    const one = new TableMap<string>('sqlite');
    one.set('T', 'one');
    expect([one.get('t'), one.set('t', 'two'), one.get('T')]).toEqual(['one', 't', 'two']);
  });
});
