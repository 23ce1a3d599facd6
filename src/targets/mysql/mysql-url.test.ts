import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tidbDriver } from '../tidb/index.js';
import { mysqlDriver } from './index.js';
import { parseMysqlUrl, setVariable, showAddress } from './mysql-url.js';

describe('URLs of the MySQL family', () => {
  it('reads user, password, host, port, database and variables', () => {
    const url = parseMysqlUrl('mysql://ann:p%40ss@db.example:3307/shop?innodb_snapshot_isolation=ON');
    expect(url.address).toEqual({
      host: 'db.example',
      port: 3307,
      user: 'ann',
      password: 'p@ss',
      database: 'shop',
      ssl: false,
    });
    expect(url.variables).toEqual({ innodb_snapshot_isolation: 'ON' });
    expect(url.shown).toBe('mysql://ann@db.example:3307/shop?innodb_snapshot_isolation=ON');
  });

  it('has a default user, host and port', () => {
    expect(parseMysqlUrl('tidb://', 4000).address).toEqual({
      host: '127.0.0.1',
      port: 4000,
      user: 'root',
      ssl: false,
    });
  });

  it('reads a socket, IPv6 hosts and ssl', () => {
    expect(parseMysqlUrl('mariadb://root@localhost/?socket=/tmp/s').address?.socket).toBe('/tmp/s');
    expect(parseMysqlUrl('mysql://[::1]:3306/?ssl=on').address).toMatchObject({ host: '::1', ssl: true });
    expect(() => parseMysqlUrl('mysql://h/?ssl=perhaps')).toThrow(/ssl=perhaps/);
  });

  it('takes a URL without host as a private server', () => {
    const url = parseMysqlUrl('mariadb:?innodb_snapshot_isolation=ON&binary=/opt/mariadbd');
    expect(url.address).toBeUndefined();
    expect(url.binary).toBe('/opt/mariadbd');
    expect(url.variables).toEqual({ innodb_snapshot_isolation: 'ON' });
    expect(() => parseMysqlUrl('mariadb:shop')).toThrow(/not understood/);
  });

  it('refuses names that are no variable and never lets a value become SQL', () => {
    expect(() => parseMysqlUrl('mysql://h/?a%3B%20DROP=1')).toThrow(/not the name of a system variable/);
    expect(setVariable('sql_mode', "x'; DROP TABLE t; -- \\")).toBe(
      "SET SESSION sql_mode = 'x''; DROP TABLE t; -- \\\\'",
    );
    expect(setVariable('lock_wait_timeout', '5')).toBe('SET SESSION lock_wait_timeout = 5');
  });

  it('never shows a password', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const secret = `S3CR3T${text}`;
        const url = parseMysqlUrl(`mysql://ann:${encodeURIComponent(secret)}@h:1/d?password=S3CR3T`);
        expect(url.address?.password).toBe(secret);
        expect(url.shown + showAddress(url.address!)).not.toContain('S3CR3T');
      }),
    );
    expect(() => parseMysqlUrl('mysql://ann:S3CR3T@h:port/')).toThrow(/^(?!.*S3CR3T)/s);
  });

  it('reads the version a private server should be of', () => {
    expect(parseMysqlUrl('mariadb@11.8:?innodb_snapshot_isolation=OFF')).toEqual({
      version: '11.8',
      variables: { innodb_snapshot_isolation: 'OFF' },
      shown: 'mariadb@11.8:?innodb_snapshot_isolation=OFF',
    });
    expect(() => parseMysqlUrl('mariadb@11.8://host/')).toThrow(/either a version/);
    expect(parseMysqlUrl('mysql:?binaries=/opt/bin')).toMatchObject({
      binaries: '/opt/bin',
      shown: 'mysql:',
    });
  });

  it('says how to get a server where there is none to start', async () => {
    for (const [driver, name] of [
      [mysqlDriver, 'mysql'],
      [tidbDriver, 'tidb'],
    ] as const) {
      const opened = driver.open(`${name}:?binaries=/nowhere`, {});
      await expect(opened).rejects.toMatchObject({ code: 'engine-missing' });
      await expect(opened).rejects.toThrow(new RegExp(`No program at /nowhere/.*scripts/engines ${name}`));
    }
  });
});
