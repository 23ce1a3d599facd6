import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';

const store = mkdtempSync(join(tmpdir(), 'isolde-ignorable-'));
afterAll(() => rmSync(store, { recursive: true, force: true }));

const hunt = (...ignored: readonly string[]) =>
  isolde([
    'hunt',
    'duckdb:',
    '--store',
    store,
    '--rounds',
    '1',
    ...ignored.flatMap((each) => ['--ignore', each]),
  ]);

it('a hunt that is to ignore what is no bug and no signature does not begin', async () => {
  for (const slip of ['duckdb-lost-wriet-3f9a2c41', '3f9a2c41', 'C0FFEE000000']) {
    const { code, out, err } = await hunt('0123456789ab', slip);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(`"${slip}" is neither the id of a stored bug nor a signature`);
  }
});

it('a signature may be ignored before it was seen', async () => {
  expect((await hunt('0123456789ab')).code).not.toBe(3);
});
