import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseOptionFile } from './mysql-option-file.js';
import { parseMysqlUrl } from './mysql-url.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-option-file-'));
const file = join(folder, 'my.cnf');
afterAll(() => rmSync(folder, { recursive: true }));

describe('option files', () => {
  it('are read as the client programs read them', () => {
    const text = [
      '# a comment',
      'password=outside-any-group',
      '[mysqld]',
      'user = mysql',
      '[client]',
      'user=ann   # a comment behind it',
      'password = "p#a\\"ss\\s\\\\w"',
      '!include /etc/other.cnf',
      'port: 1',
      'ssl-mode=REQUIRED',
      '[isolde]',
      "host='db.example'",
    ].join('\r\n');
    expect(parseOptionFile(text)).toEqual({ user: 'ann', password: 'p#a"ss \\w', host: 'db.example' });
  });

  it('fill in what a URL leaves out, and are shown without what they hold', () => {
    writeFileSync(file, '[client]\nuser=ann\npassword=geheim\nhost=db.example\nport=3307\nsocket=/tmp/s\n');
    const { address, shown, variables } = parseMysqlUrl(`mysql://?option-file=${file}`, 3306, {});
    expect(address).toMatchObject({ user: 'ann', password: 'geheim', host: 'db.example', port: 3307 });
    expect(address?.socket).toBe('/tmp/s');
    expect(variables).toEqual({});
    expect(shown).not.toContain('geheim');
    expect(parseMysqlUrl(shown, 3306, {}).address).toMatchObject({ user: 'ann', password: 'geheim' });
    const given = parseMysqlUrl(`mysql://bob:own@other:1/?option-file=${file}`, 3306, { MYSQL_PWD: 'no' });
    expect(given.address).toEqual({ user: 'bob', password: 'own', host: 'other', port: 1, ssl: false });
  });

  it('say which file cannot be read', () => {
    expect(() => parseMysqlUrl('mysql://h/?option-file=/nowhere/my.cnf')).toThrow(
      /\/nowhere\/my\.cnf.*ENOENT/,
    );
  });
});

describe('MYSQL_PWD', () => {
  it('is the password of a URL that has none', () => {
    const environment = { MYSQL_PWD: 'geheim' };
    expect(parseMysqlUrl('mysql://ann@h/', 3306, environment).address?.password).toBe('geheim');
    expect(parseMysqlUrl('mysql://ann:own@h/', 3306, environment).address?.password).toBe('own');
    expect(parseMysqlUrl('mysql://ann@h/', 3306, environment).shown).toBe('mysql://ann@h:3306/');
  });
});
