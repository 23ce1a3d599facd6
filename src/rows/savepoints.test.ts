import { describe, expect, it } from 'vitest';
import { Savepoints, savepointOf } from './savepoints.js';

describe('savepoints', () => {
  it('come back to the newest of a name, and stay', () => {
    const savepoints = new Savepoints<number>();
    savepoints.set('a', 1);
    savepoints.set('b', 2);
    savepoints.set('a', 3);
    savepoints.set('c', 4);
    expect(savepoints.rollBackTo('a')).toBe(3);
    expect(savepoints.rollBackTo('c')).toBeUndefined();
    expect(savepoints.rollBackTo('a')).toBe(3);
    savepoints.release('a');
    expect(savepoints.rollBackTo('a')).toBe(1);
    expect(savepoints.rollBackTo('b')).toBeUndefined();
  });

  it('are named as the dialect names them', () => {
    const named = (sql: string, dialect: 'postgres' | 'mysql') =>
      savepointOf({ kind: 'rollback-to', sql }, dialect)?.name;
    expect(named('ROLLBACK TO SAVEPOINT S1;', 'postgres')).toBe(named('ROLLBACK TO s1', 'postgres'));
    expect(named('ROLLBACK TO "S1"', 'postgres')).not.toBe(named('ROLLBACK TO s1', 'postgres'));
    expect(named('ROLLBACK TO `S1`', 'mysql')).toBe(named('ROLLBACK TO s1', 'mysql'));
    expect(savepointOf({ kind: 'select', sql: 'SELECT 1' }, 'postgres')).toBeUndefined();
  });
});
