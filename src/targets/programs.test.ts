import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { targetDeclarations } from './declarations.js';
import {
  absentLines,
  engineFolder,
  findProvidedServer,
  howToProvide,
  installedPrograms,
  providedProgram,
  providedServers,
  providedVersion,
} from './programs.js';

let folder: string;
const before = { cache: process.env.ISOLDE_CACHE, path: process.env.PATH };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-programs-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const [name, value] of [
    ['ISOLDE_CACHE', before.cache],
    ['PATH', before.path],
  ] as const) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

function program(path: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

it('looks for provided engines in the cache folder that the environment names', () => {
  expect(engineFolder('mysql', { ISOLDE_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a/servers/mysql');
  expect(engineFolder('mysql', { XDG_CACHE_HOME: '/b' })).toBe('/b/isolde/servers/mysql');
  expect(engineFolder('mysql', {})).toBe(join(homedir(), '.cache/isolde/servers/mysql'));
});

it('finds the program and the version of a provided engine, and neither where it is missing', () => {
  process.env.ISOLDE_CACHE = folder;
  expect(providedProgram('mysql', 'mysqld')).toBeUndefined();
  expect(providedVersion('mysql')).toBeUndefined();
  const path = program(join(engineFolder('mysql'), 'bin/mysqld'));
  writeFileSync(join(engineFolder('mysql'), 'version'), '9.7.4-1\n');
  expect(providedProgram('mysql', 'mysqld')).toBe(path);
  expect(providedVersion('mysql')).toBe('9.7.4-1');
});

it('finds installed programs in the order of PATH, and only what can be run', () => {
  const [one, two] = [program(join(folder, 'a/engine')), program(join(folder, 'b/engine'))];
  process.env.PATH = [join(folder, 'b'), join(folder, 'none'), join(folder, 'a')].join(':');
  expect(installedPrograms('engine')).toEqual([two, one]);
  chmodSync(two, 0o644);
  expect(installedPrograms('engine')).toEqual([one]);
});

it('finds a provided server by its version or its series', () => {
  process.env.ISOLDE_CACHE = folder;
  expect(providedServers('mariadb')).toEqual([]);
  for (const [name, version] of [
    ['mariadb-11.8', '11.8.9-1'],
    ['mariadb-12.1', '12.1.2-1'],
    ['mariadb-13.0.making', undefined],
    ['mysql', '9.7.4-2'],
  ] as const) {
    mkdirSync(engineFolder(name), { recursive: true });
    if (version !== undefined) writeFileSync(join(engineFolder(name), 'version'), version);
  }
  expect(providedServers('mariadb').map(({ name }) => name)).toEqual(['mariadb-11.8', 'mariadb-12.1']);
  for (const asked of ['11', '11.8', '11.8.9', '11.8.9-1']) {
    expect(findProvidedServer('mariadb', asked)?.binaries).toBe(join(engineFolder('mariadb-11.8'), 'bin'));
  }
  for (const asked of ['11.', '1', '11.80', '']) expect(findProvidedServer('mariadb', asked)).toBeUndefined();
  expect(findProvidedServer('mysql', '9.7')?.name).toBe('mysql');
});

it('the lines of the script are declared, each by its engine', () => {
  const script = readFileSync('scripts/engines', 'utf8');
  const names = /^names='(.*)'$/m.exec(script)?.[1]?.split(' ') ?? [];
  const declared = targetDeclarations.flatMap(({ scriptLines = [] }) => scriptLines.map(({ name }) => name));
  expect(declared.toSorted()).toEqual(names.toSorted());
  expect(names).toContain('mariadb-11.8');
});

it('says which line of the script brings a version', () => {
  process.env.ISOLDE_CACHE = join(folder, 'none');
  const lines = [
    { name: 'mysql', series: '9' },
    { name: 'mysql-5.6', series: '5.6' },
  ];
  expect(absentLines(lines)).toEqual(lines);
  expect(howToProvide(lines, '5.6.24')).toBe('get it with scripts/engines mysql-5.6');
  expect(howToProvide(lines, '5')).toBe('get it with scripts/engines mysql-5.6');
  expect(howToProvide(lines, '8.0')).toBe('scripts/engines has mysql (9), mysql-5.6 (5.6)');
  expect(howToProvide([], '1')).toBe('scripts/engines has none of it');
  mkdirSync(engineFolder('mysql'), { recursive: true });
  writeFileSync(join(engineFolder('mysql'), 'version'), '9.7.4-2');
  expect(absentLines(lines).map(({ name }) => name)).toEqual(['mysql-5.6']);
  expect(howToProvide(lines, '9.8')).toBe('scripts/engines has mysql (9.7.4-2), mysql-5.6 (5.6)');
});
