import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { requireStore } from './existing-store.js';
import { caseInstead, otherKind } from './other-kind.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-kinds-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a file that is no case', () => {
  it.each([
    ['{"format":"isolde-history","version":1}', 'isolde check f judges it'],
    ['\u001f\ufffd\b', 'isolde reduce f makes a case of it'],
    ['{"format": "isolde-bug"}', 'isolde bugs rerun'],
    ['{:type :invoke, :f :txn}', 'isolde check f'],
    ['; remark\n{:process 0 :type :invoke}', 'isolde check f'],
    ['[{:index 0 :type :ok}]', 'isolde check f'],
    ['w(1,1,0,0)\nr(1,1,1,1)\n', 'isolde check f'],
  ])('%j is recognised', (text, says) => {
    expect(otherKind('f', text)).toContain(says);
  });

  it.each([
    'T1: BEGIN',
    '{"format":"isolde-case"}',
    'CREATE TABLE t (a INT);',
    'session s1\nstep a { BEGIN; }',
    '',
  ])('%j may be one', (text) => expect(otherKind('f', text)).toBeUndefined());

  it('may be a folder: of a bug, of a store, of anything', () => {
    for (const [name, file] of [
      ['bug', 'bug.json'],
      ['store', 'store.json'],
      ['other', 'x'],
    ] as const) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, file), '');
    }
    expect(otherKind(join(folder, 'bug'), '')).toContain('case.sql');
    expect(otherKind(join(folder, 'store'), '')).toContain('isolde bugs list');
    expect(otherKind(join(folder, 'other'), '')).toContain('is a folder');
  });
});

describe('a file that is no history', () => {
  it('may be a case', () => {
    expect(caseInstead('f', 'CREATE TABLE t (a INT);\nT1: BEGIN\n')).toContain('isolde run f --check');
    expect(caseInstead('f', '{"format": "isolde-case"}')).toContain('isolde run f');
    expect(caseInstead('f', 'nothing we know')).toBeUndefined();
  });
});

it('a store that is named must be there, the usual one may come later', () => {
  expect(() => requireStore(join(folder, 'nosuch'))).toThrow('there is no store');
  for (const place of [folder, '.isolde', 'postgres://host/db']) requireStore(place);
});
