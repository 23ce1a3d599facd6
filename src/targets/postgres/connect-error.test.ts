import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../../errors.js';
import { connectError } from './connect-error.js';
import type { ServerAddress } from './postgres-url.js';

const address = {
  ...{ host: 'db.example', port: 5433, user: 'u', database: 'shop', password: 'hunter2' },
} as unknown as ServerAddress;
const thrown = (code: string | undefined, message: string) => Object.assign(new Error(message), { code });

describe('a connection that failed', () => {
  it.each([
    ['ECONNREFUSED', 'x', 'nothing listens there'],
    ['ENOTFOUND', 'x', 'the host name "db.example" is not known'],
    ['EAI_AGAIN', 'x', 'the host name "db.example" is not known'],
    ['ETIMEDOUT', 'x', 'the host cannot be reached'],
    ['28P01', 'password authentication failed', 'the password of user "u" is wrong'],
    ['28000', 'no pg_hba.conf entry', 'user "u" may not log in (no pg_hba.conf entry)'],
    ['3D000', 'x', 'there is no database "shop"'],
    ['53300', 'too many clients', 'raise max_connections'],
    [
      '57P03',
      'the database system is starting up',
      'the server is not ready (the database system is starting up)',
    ],
    [undefined, 'timeout expired', 'no answer in time'],
    [undefined, 'SASL: client password must be a string', 'needs a password, and the URL has none'],
    [undefined, 'SASL: client password must be a non-empty string', 'needs a password, and the URL has none'],
    ['XX000', 'what is this', 'what is this'],
  ])('with %s (%s) says what can be done', (code, message, expected) => {
    const error = connectError(thrown(code, message), address);
    expect(error).toMatchObject({ code: 'connect' });
    expect(error.message).toContain('Cannot connect to PostgreSQL at db.example:5433: ');
    expect(error.message).toContain(expected);
  });

  it('tells no password, and keeps no error of a driver, which has one', () => {
    const driver = Object.assign(thrown('ECONNREFUSED', 'x'), { parameters: { password: 'hunter2' } });
    const error = connectError(driver, address, 'CockroachDB');
    expect(error.message).toContain('CockroachDB');
    expect(JSON.stringify([error.message, error.cause ?? null, error.stack])).not.toContain('hunter2');
    expect(error.cause).toBeUndefined();
  });

  it('that was explained before is left as it is', () => {
    const own = new IsoldeError('safety', 'no');
    expect(connectError(own, address)).toBe(own);
  });

  it.each([null, undefined, 'text', 7, {}])('can be thrown as %j', (strange) => {
    expect(connectError(strange, address)).toMatchObject({ code: 'connect' });
  });
});
