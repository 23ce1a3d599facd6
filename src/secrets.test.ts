import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hideSecrets, publicUrl, secretFilter, secretsIn, withoutSecrets } from './secrets.js';

describe('hideSecrets', () => {
  it.each([
    ['postgres://ann:p%40ss@h:5432/shop?sslmode=require', 'postgres://ann:***@h:5432/shop?sslmode=require'],
    ['postgres://ann:p@ss@h/shop', 'postgres://ann:***@h/shop'],
    ['postgres://ann:pa/ss@h/shop', 'postgres://ann:***@h/shop'],
    ['postgres://ann:12/34@h/shop', 'postgres://ann:***@h/shop'],
    ['postgres://ann:pa?ss#@h/shop', 'postgres://ann:***@h/shop'],
    ['postgres://:geheim@h/', 'postgres://:***@h/'],
    ['mysql://h/?password=geheim&ssl=on', 'mysql://h/?password=***&ssl=on'],
    ['mysql://h/?ssl=on&PassWord=geheim', 'mysql://h/?ssl=on&PassWord=***'],
    ['mysql://ann@h:3306/shop', 'mysql://ann@h:3306/shop'],
    ['postgres://h:5432/shop?options=-c%20a@b', 'postgres://h:5432/shop?options=-c%20a@b'],
    ['libsql://h/?auth_token=eyJh.x-y', 'libsql://h/?auth_token=***'],
    ['exec:PGPASSWORD=geheim python3 adapter.py', 'exec:PGPASSWORD=*** python3 adapter.py'],
    ["exec:MYSQL_PWD='ge heim' ./adapter", 'exec:MYSQL_PWD=*** ./adapter'],
    ['exec:env API_KEY="ge heim" DEBUG=1 ./adapter', 'exec:env API_KEY=*** DEBUG=1 ./adapter'],
    ['exec:./adapter --password geheim --port 5', 'exec:./adapter --password *** --port 5'],
    ['exec:./adapter --db-password=geheim', 'exec:./adapter --db-password=***'],
    ['exec:./adapter \'{"password":"geheim"}\'', 'exec:./adapter \'{"password":***}\''],
    [
      'exec:./adapter https://u:geheim@h/x postgres://v:heimlich@h',
      'exec:./adapter https://u:***@h/x postgres://v:***@h',
    ],
    [
      'cluster:postgres://ann:geheim@h1/shop?options=-c%20a=1,2,postgres://ben:pa,ss@h2/shop',
      'cluster:postgres://ann:***@h1/shop?options=-c%20a=1,2,postgres://ben:***@h2/shop',
    ],
    [
      'cluster:mariadb://h1/?password=geheim,mariadb://h2/',
      'cluster:mariadb://h1/?password=***,mariadb://h2/',
    ],
    ['exec:mysql -uann -pgeheim shop', 'exec:mysql -uann -p*** shop'],
    ['exec:psql -p5432 -h h', 'exec:psql -p5432 -h h'],
    ['exec:./a --password geheim?fault=dirty-read', 'exec:./a --password ***?fault=dirty-read'],
    ['exec:PGPASSFILE=/etc/pgpass ./adapter', 'exec:PGPASSFILE=/etc/pgpass ./adapter'],
    ['mysql://h/?option-file=/etc/my.cnf', 'mysql://h/?option-file=/etc/my.cnf'],
  ])('%s', (url, shown) => {
    expect(hideSecrets(url)).toBe(shown);
    expect(hideSecrets(shown)).toBe(shown);
  });

  it('shows no password of any URL, however odd', () => {
    const part = fc.stringMatching(/^[a-z0-9%_.-]{3,12}$/);
    const password = fc.stringMatching(/^[A-Z]{8}[^\s'"<>]*$/);
    fc.assert(
      fc.property(part, password, part, (user, secret, host) => {
        const shown = hideSecrets(`mysql://${user}:${secret}@${host}/x`);
        expect(shown).not.toContain(secret.slice(0, 8));
        expect(secretsIn(`mysql://${user}:${secret}@${host}/x`)).toContain(secret);
      }),
    );
  });
});

it('names every secret of a list of nodes by itself', () => {
  expect(secretsIn('cluster:postgres://ann:geheim@h1/x,postgres://ben:heimlich@h2/x')).toEqual([
    'geheim',
    'heimlich',
  ]);
});

describe('publicUrl', () => {
  it.each([
    ['postgres://ci:s3cret@db:5432/test', 'postgres://ci@db:5432/test'],
    ['postgres://ci:p@ss:w@rd@db/test?sslmode=require', 'postgres://ci@db/test?sslmode=require'],
    ['mysql://ci@db/?password=s3cret&charset=utf8', 'mysql://ci@db/?charset=utf8'],
    ['mysql://ci@db/?password=s3cret', 'mysql://ci@db/'],
    ['duckdb:?mode=x', 'duckdb:?mode=x'],
    [
      'cluster:postgres://ci:s3cret@h1/x?sslmode=require,postgres://ci:other@h2/x?password=third',
      'cluster:postgres://ci@h1/x?sslmode=require,postgres://ci@h2/x',
    ],
  ])('%s', (url, shown) => expect(publicUrl(url)).toBe(shown));

  it('keeps nothing of a password, however odd', () => {
    const password = fc.stringMatching(/^[A-Z]{8}[^\s'"<>?]*$/);
    fc.assert(
      fc.property(password, (secret) => {
        expect(publicUrl(`mysql://user:${secret}@host/x`)).toBe('mysql://user@host/x');
      }),
    );
  });
});

describe('secretsIn', () => {
  it('gives secrets as they are written and as they are meant', () => {
    expect(secretsIn('postgres://ann:p%40ss@h/x?password=other')).toEqual(['p%40ss', 'p@ss', 'other']);
    expect(secretsIn("exec:MYSQL_PWD='ge heim' ./a")).toEqual(['ge heim']);
    expect(secretsIn('duckdb:')).toEqual([]);
  });
});

describe('hiding known secrets', () => {
  it('takes them out of a message', () => {
    expect(withoutSecrets('no user ann with geheim (geheim2)', ['geheim', 'geheim2', 'a'])).toBe(
      'no user ann with *** (***)',
    );
  });

  it('takes them out of output only where they stand as secrets', () => {
    const filter = secretFilter(['test', 'p+(x']);
    expect(filter('postgres://ann:test@h CREATE TABLE test PGPASSWORD=test a=tester p+(x :p+(x@')).toBe(
      'postgres://ann:***@h CREATE TABLE test PGPASSWORD=*** a=tester p+(x :***@',
    );
  });
});
