import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { contractsOf } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { targetDeclarations } from './declarations.js';
import { inOwnProcess, openTarget, splitFault, splitProcess } from './registry.js';

const source = fileURLToPath(new URL('..', import.meta.url));

describe('openTarget', () => {
  it('opens the embedded default when no URL is given, and by its bare name', async () => {
    for (const url of [undefined, '', 'duckdb', 'DuckDB:']) {
      const target = await openTarget(url);
      expect(target.name).toBe('duckdb');
      await target.close();
    }
  });

  it('lists what is accepted when the scheme is unknown, without repeating a password', async () => {
    const thrown: unknown = await openTarget('oracle://scott:tiger@db/x').catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(IsoldeError);
    const { code, message } = thrown as IsoldeError;
    expect(code).toBe('usage');
    expect(message).toContain('"oracle://scott:***@db/x"');
    for (const { usage } of targetDeclarations) expect(message).toContain(usage);
    expect(message).not.toContain('tiger');
  });

  it('wraps the target in the fault of the URL and says so in its stamp', async () => {
    const target = await openTarget('duckdb:?fault=lost-update(table=t,nth=2)');
    expect(target.stamp.settings?.fault).toBe('lost-update(table=t,nth=2)');
    expect(target.stamp.url).toContain('fault=');
    expect(splitFault(target.stamp.url!).fault).toBe('lost-update(table=t,nth=2)');
    await target.close();
  });

  it('refuses a misspelt fault before it starts anything', async () => {
    await expect(openTarget('postgres:?fault=lost-updates')).rejects.toThrow(
      /Faults are: weaker-level, stale/,
    );
  });
});

it('a fault the engine has nothing for is refused, and what was opened is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-registry-test-'));
  try {
    const opening = openTarget('sqlite:?fault=stripped-row-lock', { scratchFolder: folder });
    await expect(opening).rejects.toThrow(/stripped-row-lock cannot be injected into sqlite/);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('the list of engines', () => {
  const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/declaration.ts`, import.meta.url)),
    )
    .map(({ name }) => name);

  it('has every folder with a declaration, under the name of its first scheme', () => {
    expect(targetDeclarations.map(({ name }) => name).sort()).toEqual(folders.sort());
    for (const { name, schemes } of targetDeclarations) expect(schemes[0]).toBe(name);
  });

  it.each(targetDeclarations)(
    '$name loads a driver, and has vendor contracts',
    async ({ name, load, dialect }) => {
      expect(await load()).toHaveProperty('open');
      if (dialect !== undefined) expect(contractsOf(name)).not.toEqual([]);
    },
  );

  // Adding an engine: its folder, one line in declarations.ts, its contracts (contracts/vendors and one line there). Names of
  // dialects stand everywhere; `known` speaks of engines that others reported bugs of.
  const dialects = new Set<string | undefined>(targetDeclarations.map(({ dialect }) => dialect));
  const engines = targetDeclarations.filter(
    ({ name, dialect }) => dialect !== undefined && !dialects.has(name),
  );
  const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!(?:contracts|bench|known)\b).*(?<!\.test|\.case)\.ts$/.test(file))
    .map((file) => ({ file: file.split(sep).join('/'), text: readFileSync(join(source, file), 'utf8') }));
  /** What engines that share a dialect or a protocol with others differ in, outside of their folders. */
  const differs: Readonly<Record<string, readonly string[]>> = {
    cockroach: ['check/constraints/declared.ts'],
    mariadb: [
      'check/constraints/declared.ts',
      'generate/scenarios/scene.ts',
      'generate/scenarios/writes.ts',
      'properties/known-differences.ts',
      'targets/cluster/index.ts',
      'targets/jdbc/index.ts',
      'targets/mysql/mysql-flavor.ts',
      'targets/mysql/mysql-option-file.ts',
      'targets/server-folder.ts',
    ],
    tidb: [
      'check/constraints/declared.ts',
      'sql/evaluate/scope.ts',
      'targets/mysql/mysql-flavor.ts',
      'targets/mysql/mysql-server.ts',
      'targets/server-folder.ts',
    ],
  };

  it.each(engines)(
    'is the only place beside its folder and known differences that names $name',
    ({ name }) => {
      const naming = texts
        .filter(
          ({ file, text }) =>
            !file.startsWith(`targets/${name}/`) && new RegExp(`['/]${name}['/]`).test(text),
        )
        .map(({ file }) => file);
      expect(naming.sort()).toEqual(['targets/declarations.ts', ...(differs[name] ?? [])].sort());
    },
  );
});

describe('splitFault', () => {
  it.each([
    ['duckdb:', 'duckdb:', undefined],
    ['postgres:?fault=dirty-read', 'postgres:', 'dirty-read'],
    ['postgres://h/d?a=1&fault=dirty-read&b=2', 'postgres://h/d?a=1&b=2', 'dirty-read'],
    ['postgres://h/d?fault=dirty-read&b=2', 'postgres://h/d?b=2', 'dirty-read'],
    ['x:?fault=lost-update(match=a&b,nth=2)&c=3', 'x:?c=3', 'lost-update(match=a&b,nth=2)'],
    ['x:?fault=lost-update(match=%5E%28a%29)', 'x:', 'lost-update(match=^(a))'],
    ['exec:run --what? --default=1', 'exec:run --what? --default=1', undefined],
  ])('cuts %s', (url, engineUrl, fault) => {
    expect(splitFault(url)).toEqual(fault === undefined ? { engineUrl } : { engineUrl, fault });
  });
});

describe('the process parameter', () => {
  it.each([
    ['duckdb:?process=own', 'duckdb:', 'own'],
    ['turso:?process=own&mode=mvcc', 'turso:?mode=mvcc', 'own'],
    ['sqlite:x?journal=delete&process=same', 'sqlite:x?journal=delete', 'same'],
    ['duckdb:?process=other', 'duckdb:?process=other', undefined],
    ['postgres:?process=own', 'postgres:?process=own', undefined],
  ])('of %s', (url, engineUrl, process) => {
    expect(splitProcess(url)).toEqual(process === undefined ? { engineUrl } : { engineUrl, process });
  });

  it.each([
    [undefined, 'duckdb:?process=own'],
    ['sqlite', 'sqlite:?process=own'],
    ['turso:?mode=mvcc', 'turso:?mode=mvcc&process=own'],
    ['duckdb:?fault=lost-update(table=t)', 'duckdb:?fault=lost-update(table=t)&process=own'],
    ['duckdb:?process=same', undefined],
    ['duckdb:?process=own', undefined],
    // It has one already.
    ['turso:?package=turso-0-4', undefined],
    ['postgres:', undefined],
  ])('is added to %s', (url, own) => {
    expect(inOwnProcess(url)).toBe(own);
  });
});
