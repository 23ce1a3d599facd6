/** Hostile SQL does no damage on any kind of URL. */
import { describe, expect, it } from 'vitest';
import { duckdbAvailable } from '../duckdb/index.js';
import { mariadbAvailable } from '../mariadb/index.js';
import { postgresAvailable } from '../postgres/index.js';
import { openTarget } from '../registry.js';
import { sqliteAvailable } from '../sqlite/index.js';
import { tursoAvailable } from '../turso/index.js';
import { attack, makeWorld } from './attack-lab.case.js';
import { attacks } from './attacks.case.js';

const required = process.env.ISOLDE_REQUIRE_ENGINES === '1';

const urls: readonly (readonly [url: string, available: () => string | undefined])[] = [
  ['duckdb:', duckdbAvailable],
  ['sqlite:', sqliteAvailable],
  ['sqlite:?journal=delete', sqliteAvailable],
  ['turso:', tursoAvailable],
  ['turso:?mode=mvcc', tursoAvailable],
  ['postgres:', postgresAvailable],
  ['mariadb:', mariadbAvailable],
];

it('tries at least 300 statements, each once', () => {
  const all = Object.values(attacks).flat();
  expect(all.length).toBeGreaterThanOrEqual(300);
  expect(new Set(all.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(300);
});

describe('an engine of our own', () => {
  it.for(urls)('%s does no damage', { timeout: 120_000 }, async ([url, available], { skip }) => {
    const missing = available();
    if (missing !== undefined && !required) return skip(missing);
    const world = makeWorld();
    const target = await openTarget(url);
    try {
      const results = await attack(target, world);
      expect(results.length).toBe(attacks[target.dialect].length);
      const loud = results.filter(({ kind }) => kind === 'write to the terminal');
      expect(loud.filter(({ inSetup, inSession }) => [inSetup, inSession].includes('harmless'))).toEqual([]);
    } finally {
      await target.close();
      await world.close();
    }
  });
});
