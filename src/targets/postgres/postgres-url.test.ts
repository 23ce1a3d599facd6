import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../../errors.js';
import { connectError } from './connect-error.js';
import { clientConfig, parsePostgresUrl, type ServerAddress, startupOptions } from './postgres-url.js';

function server(url: string): ServerAddress {
  const address = parsePostgresUrl(url);
  if (address.kind !== 'server') throw new Error('private');
  return address;
}

describe('a PostgreSQL URL', () => {
  it('without a host means a private server, with its binaries and settings', () => {
    expect(parsePostgresUrl('postgres:')).toMatchObject({ kind: 'private', settings: {} });
    expect(parsePostgresUrl('postgresql:?binaries=/opt/pg16&deadlock_timeout=1s')).toMatchObject({
      kind: 'private',
      binaries: '/opt/pg16',
      settings: { deadlock_timeout: '1s' },
    });
  });

  it('with a host names user, database and port, decoded', () => {
    expect(server('postgresql://a%40b:p%3Aw@db.example:6543/my%20shop')).toMatchObject({
      host: 'db.example',
      port: 6543,
      user: 'a@b',
      database: 'my shop',
    });
    expect(server('postgres://u@[::1]/d')).toMatchObject({ host: '::1', port: 5432 });
  });

  it('is shown without its password, wherever that stands', () => {
    for (const url of ['postgres://u:s3cret@h/d?x=1', 'postgres://u@h/d?password=s3cret&x=1']) {
      expect(server(url).shown).not.toContain('s3cret');
      expect(server(url).shown).toContain('x=1');
    }
  });

  it.each([
    'postgres:shop',
    'postgres://',
    'postgres:///shop',
    'postgres://u:s3cret@h:port/d',
    'postgres:?a-b=1',
  ])('that makes no sense is refused without repeating a password: %s', (url) => {
    const refuse = () => parsePostgresUrl(url);
    expect(refuse).toThrow(IsoldeError);
    expect(refuse).not.toThrow(/s3cret/);
  });

  it('can bring options of its own, which come before ours', () => {
    const address = server('postgres://u@h/d?options=-c%20work_mem=8MB');
    const { options } = clientConfig(address, { search_path: 'isolde_x' }, 1000);
    expect(options).toBe('-c work_mem=8MB -c search_path=isolde_x');
  });

  it('keeps spaces and backslashes inside a setting', () => {
    expect(startupOptions({ a: 'repeatable read', b: 'x\\y' })).toBe('-c a=repeatable\\ read -c b=x\\\\y');
  });
});

describe('a refused connection', () => {
  const address = server('postgres://u:s3cret@db:5432/shop');
  it.each([
    [{ code: 'ECONNREFUSED' }, /db:5432: nothing listens there/],
    [{ code: 'ENOTFOUND' }, /host name "db" is not known/],
    [{ code: '28P01', message: 'x' }, /password of user "u" is wrong/],
    [{ code: '3D000', message: 'x' }, /no database "shop"/],
    [{ code: '53300', message: 'too many clients' }, /no connection left \(too many clients\)/],
    [{ message: 'timeout expired' }, /no answer in time/],
    [{ message: 'SASL: client password must be a string' }, /needs a password, and the URL has none/],
  ])('with %o says what to do', (fields, expected) => {
    const error = connectError(Object.assign(new Error(), fields), address);
    expect([error.code, error.message]).toEqual(['connect', expect.stringMatching(expected)]);
    expect(JSON.stringify([error.message, error.cause])).not.toContain('s3cret');
  });
});
