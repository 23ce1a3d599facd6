/** docs/tutorial-property.md: the toy engine, the property, the failure it prints, and the line that replays it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-tutorial-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const page = readFileSync('docs/tutorial-property.md', 'utf8');
const target = 'exec:node examples/toy-engine/adapter.mjs';

it('finds the bug of the toy engine, shrinks it and replays it', { timeout: 180_000 }, async () => {
  const property = 'examples/toy-engine/deleted-rows.mjs';
  const { code, out, err } = await isolde(['property', property, '--target', target, '--store', folder]);
  expect(code, err).toBe(1);
  expect(out).toContain('deleted rows are gone');
  expect(out).toMatch(/DELETE FROM t\d+ WHERE .* OR /);
  const [, left, before] = /(\d+) interactions, shrunk from (\d+);/.exec(out)!;
  expect(Number(left)).toBeLessThan(Number(before) / 4);

  const [, file] = /--replay (\S+)/.exec(out)!;
  const again = await isolde(['property', '--replay', file!, '--target', target]);
  expect([again.code, again.out]).toEqual([1, expect.stringContaining('shown in 3 of 3 runs')]);
});

it('shows the property as it is, and an engine of at most 60 lines', () => {
  const property = readFileSync('examples/toy-engine/deleted-rows.mjs', 'utf8');
  expect(page).toContain(property.replace('// @ts-check\n', ''));
  const engine = readFileSync('examples/toy-engine/toy-engine.mjs', 'utf8');
  expect(engine.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  expect(engine).toContain('// the bug');
});
