import { describe, expect, it } from 'vitest';
import { parseStatement } from '../sql/index.js';
import { mayMeet, surelyMeet, touchOf } from './touches.js';

const of = (sql: string) => [touchOf(parseStatement(sql, 'postgres'), 'postgres').touch];

describe('writes', () => {
  it.each([
    ['UPDATE t SET v = 1', 'DELETE FROM t WHERE v = 3', true],
    ['UPDATE t SET v = 1 WHERE id = 1', 'DELETE FROM t WHERE id IN (1, 2)', true],
    ['UPDATE t SET v = 1 WHERE id = 1', 'DELETE FROM t WHERE v = 1', false],
    ['UPDATE t SET v = 1', 'DELETE FROM "T"', false],
  ])('%s and %s surely write a common row: %s', (one, other, surely) => {
    expect(surelyMeet(of(one), of(other))).toBe(surely);
  });

  it('to "T" and to t never meet in PostgreSQL', () => {
    expect(mayMeet(of('UPDATE t SET v = 1'), of('UPDATE "T" SET v = 1'))).toBe(false);
    expect(mayMeet(of('UPDATE t SET v = 1'), of('UPDATE T SET v = 1'))).toBe(true);
  });
});
