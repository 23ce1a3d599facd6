import { describe, expect, it } from 'vitest';
import { admit, findForbiddenStatement, sqlOfCase } from './admit.js';
import type { Target, TargetReach } from './target.js';

const targetWith = (reach: TargetReach | undefined): Target =>
  ({
    name: 'toy',
    dialect: 'postgres',
    stamp: { name: 'toy', version: '1', url: 'toy://host/db' },
    ...(reach !== undefined && { reach: async () => reach }),
  }) as unknown as Target;

const harmless = { setup: ['CREATE TABLE t (a INT)'], statements: ['SELECT a FROM t'] };
const hostile = { setup: [], statements: ['SELECT 1', "COPY t TO PROGRAM 'rm'"] };
const options = { trust: false, source: 'x.sql' };
const beyond: TargetReach = { kind: 'beyond', why: 'user "root" may do all', advice: 'CREATE USER isolde' };

describe('SQL from a file', () => {
  it.each([
    ['where the engine keeps it in its scratch', { kind: 'scratch' } as const, hostile],
    ['where nobody can tell and all of it is on the list', { kind: 'unknown' } as const, harmless],
    ['where the target does not say and all of it is on the list', undefined, harmless],
  ])('runs %s', async (_, reach, sql) => {
    await expect(admit(targetWith(reach), sql, options)).resolves.toBeUndefined();
  });

  it.each([
    [
      'where nobody can tell and one statement is not on the list',
      { kind: 'unknown' } as const,
      hostile,
      'COPY t TO',
    ],
    ['where the target does not say', undefined, hostile, 'x.sql is not run on toy'],
    ['where the login may do more, whatever the statements are', beyond, harmless, 'user "root" may do all'],
    ['and is told what to do instead', beyond, harmless, 'CREATE USER isolde'],
  ])('does not run %s', async (_, reach, sql, message) => {
    const refused = admit(targetWith(reach), sql, options);
    await expect(refused).rejects.toMatchObject({ code: 'safety' });
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow('--trust-case');
  });

  it('runs anywhere for those who vouch for it, and nobody is asked', async () => {
    const target = {
      ...targetWith(beyond),
      reach: () => Promise.reject(new Error('asked')),
    } as unknown as Target;
    await expect(admit(target, hostile, { ...options, trust: true })).resolves.toBeUndefined();
  });

  it('counts set-up and the statements of every session', () => {
    const sql = sqlOfCase({
      name: 'x',
      setup: ['CREATE TABLE t (a INT)'],
      sessions: [
        { name: 'A', statements: ['BEGIN', 'COMMIT'] },
        { name: 'B', statements: ['SELECT 1'] },
      ],
    });
    expect(sql).toEqual({ setup: ['CREATE TABLE t (a INT)'], statements: ['BEGIN', 'COMMIT', 'SELECT 1'] });
    expect(findForbiddenStatement(sql, 'postgres')).toBeUndefined();
    const setup = ["COPY t FROM '/etc/passwd'"];
    expect(findForbiddenStatement({ setup, statements: [] }, 'postgres')).toContain('/etc/passwd');
  });

  it('is quoted at no great length', () => {
    const statements = [`DROP DATABASE ${'x'.repeat(5000)}`];
    expect(findForbiddenStatement({ setup: [], statements }, 'postgres')!.length).toBeLessThan(400);
  });
});
