import { describe, expect, it } from 'vitest';
import type { ErrorClass } from '../../histories/index.js';
import { classifyMysqlError, isConnectionError, operationError } from './mysql-errors.js';

const server = (errno: number, sqlState = 'HY000') => ({ errno, sqlState, message: 'text' });

describe('error classes', () => {
  const expected: readonly (readonly [number, ErrorClass])[] = [
    [1213, 'deadlock'],
    [1205, 'lock-timeout'],
    [3572, 'busy'],
    [1020, 'serialization'],
    [1062, 'duplicate-key'],
    [1452, 'constraint'],
    [3819, 'constraint'],
    [4025, 'constraint'],
    [1064, 'syntax'],
    [1146, 'other'],
    [1317, 'cancelled'],
    [1969, 'statement-timeout'],
    [3024, 'statement-timeout'],
    [1235, 'unsupported'],
    [1792, 'unsupported'],
    [4059, 'unsupported'],
    [1264, 'data'],
    [1365, 'data'],
    [1927, 'connection-lost'],
    [1053, 'crash'],
  ];
  it.each(expected)('gives error %i the class %s', (errno, name) => {
    expect(classifyMysqlError(server(errno))).toBe(name);
  });

  it.each([8002, 8022, 8028, 9007])('takes TiDB’s write conflict %i as serialization', (errno) => {
    expect(classifyMysqlError(server(errno))).toBe('serialization');
  });

  it('tells MyRocks’ snapshot conflicts from deadlocks by their text', () => {
    const message = 'Deadlock found when trying to get lock; try restarting transaction (snapshot conflict)';
    expect(classifyMysqlError({ ...server(1213, '40001'), message })).toBe('serialization');
  });

  it('takes a lock time-out of NOWAIT as busy, as MariaDB means it', () => {
    expect(classifyMysqlError(server(1205), 'SELECT * FROM t FOR UPDATE nowait')).toBe('busy');
    expect(classifyMysqlError(server(1205), 'SELECT nowaiting FROM t')).toBe('lock-timeout');
  });

  it('knows errors of the driver, which have no SQLSTATE, as a lost connection', () => {
    const lost = { code: 'ECONNRESET', errno: -104, message: 'read ECONNRESET' };
    expect(isConnectionError(lost)).toBe(true);
    expect(operationError(lost, 'SELECT 1')).toEqual({
      class: 'connection-lost',
      code: 'ECONNRESET',
      message: 'read ECONNRESET',
    });
    expect(isConnectionError(server(1213, '40001'))).toBe(false);
  });
});
