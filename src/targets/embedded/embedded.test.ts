import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchMark } from '../scratch-mark.js';
import {
  classifySqliteMessage,
  loadDriver,
  packageVersion,
  parseEmbeddedUrl,
  sqliteGuard,
  sqliteValue,
  sweepLeftovers,
} from './index.js';

describe('the look at statements', () => {
  it.each(['virtual', 'pragma', 'edit', 'create function', 'vacuum'])(
    'at %s takes no longer for many comments',
    (word) => {
      const started = performance.now();
      for (const gap of ['/**/', 'a/**/ ', '--\n', '/*', `${word} `, `${word}/*`])
        sqliteGuard(`${word} ${gap.repeat(10_000)}x`);
      expect(performance.now() - started).toBeLessThan(5000);
    },
  );
});

describe('parseEmbeddedUrl', () => {
  it.each([
    ['sqlite:', ''],
    ['sqlite:/a folder/50%', '/a folder/50%'],
    ['sqlite:///tmp/x', '/tmp/x'],
    ['sqlite:relative/x?journal=wal', 'relative/x'],
  ])('finds the path of %s', (url, path) => {
    expect(parseEmbeddedUrl(url, ['journal']).path).toBe(path);
  });

  it('reads parameters, also those without a value, and refuses those nobody knows', () => {
    expect(parseEmbeddedUrl('turso:?mvcc&package=a', ['mvcc', 'package']).parameters).toEqual({
      mvcc: '',
      package: 'a',
    });
    expect(() => parseEmbeddedUrl('turso:?mod=mvcc', ['mode'])).toThrow(/"mod".*accepted are: mode/);
    expect(() => parseEmbeddedUrl('turso:?process=x', [])).toThrow(/takes own or same, not "x"/);
  });
});

describe('loadDriver', () => {
  it.each(['../x', '/etc/passwd', 'a/b', 'file:x', '', 'node:fs'])('refuses %s', async (name) => {
    await expect(loadDriver(name)).rejects.toMatchObject({ code: 'usage' });
  });

  it('knows the version of an installed package, and of a missing one that it is unknown', () => {
    expect(packageVersion('@duckdb/node-api')).toMatch(/^\d+\.\d+\.\d+/);
    expect(packageVersion('isolde-no-such-package')).toBe('unknown');
  });

  it('says which package to install', async () => {
    await expect(loadDriver('isolde-no-such-package')).rejects.toThrow(/npm install isolde-no-such-package/);
  });
});

describe('classifySqliteMessage', () => {
  it.each([
    ['step failed: Write-write conflict', 'serialization'],
    [
      'step failed: Database snapshot is stale. You must rollback and retry the whole transaction.',
      'serialization',
    ],
    ['database is locked', 'busy'],
    ['step failed: Runtime error: UNIQUE constraint failed: t.id (19)', 'duplicate-key'],
    ['step failed: Runtime error: CHECK constraint failed: v < 1000 (19)', 'constraint'],
    ['prepare failed: Parse error: no such table: nope', 'syntax'],
    ['prepare failed: Parse error: window functions are not supported', 'unsupported'],
    ['statement was interrupted', 'cancelled'],
    ['thread panicked at core/vdbe', 'crash'],
    ['something never heard of', 'other'],
  ])('reads "%s" as %s', (message, expected) => {
    expect(classifySqliteMessage(message)).toBe(expected);
  });
});

it('sqliteValue takes a number for a REAL and a bigint for an INTEGER', () => {
  expect(
    [1n, 2n ** 60n, 0.5, -0, Number.NEGATIVE_INFINITY, null, 'x', new Uint8Array([1, 255])].map(sqliteValue),
  ).toEqual([
    1,
    { int: '1152921504606846976' },
    0.5,
    0,
    { double: '-Infinity' },
    null,
    'x',
    { bytes: '01ff' },
  ]);
});

describe('what a killed process left behind', () => {
  it('is removed before the next scratch is made, and nothing else is', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'isolde-sweep-test-'));
    const make = (name: string, mark: string) => {
      mkdirSync(join(parent, name));
      writeFileSync(join(parent, name, 'isolde-scratch'), mark);
    };
    // No process has a number this large.
    make('isolde_00000000000a', scratchMark(2 ** 30));
    make('isolde_00000000000b', scratchMark(process.pid));
    make('isolde_00000000000c', 'somebody else wrote this');
    try {
      await sweepLeftovers(parent);
      expect(readdirSync(parent).sort()).toEqual(['isolde_00000000000b', 'isolde_00000000000c']);
    } finally {
      rmSync(parent, { recursive: true });
    }
  });
});
