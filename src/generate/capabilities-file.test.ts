import { describe, expect, it } from 'vitest';
import { findCapabilities, knownTargets } from './capabilities.js';
import { parseCapabilities, printCapabilities } from './capabilities-file.js';
import { learnFromStatements } from './learn.js';

describe('capabilities files', () => {
  it('hold what was declared and what was learned', () => {
    for (const name of knownTargets) {
      const learned = learnFromStatements(findCapabilities(name)!, { worked: ['BEGIN'], refused: [] });
      expect(parseCapabilities(printCapabilities(learned), 'x')).toEqual(learned);
      const cluster = { ...learned, readers: true } as const;
      expect(parseCapabilities(printCapabilities(cluster), 'x')).toEqual(cluster);
    }
  });

  it.each([
    ['"where.none"', '"where.nothing"', '(proven[0]): expected one of type.int'],
    ['"dialect": "duckdb"', '"dialect": "oracle"', 'x:5 (dialect): expected one of postgres'],
    ['"errorDoomsTransaction": true', '"errorDoomsTransaction": 1', 'expected true or false, found 1'],
    ['"isolde-capabilities"', '"isolde-case"', 'expected "format": "isolde-capabilities"'],
    ['"version": 1', '"version": 2', 'version 2 is newer'],
    ['"target"', '"tarjet"', 'unknown field tarjet'],
  ])('that say %s as %s are refused', (good, bad, problem) => {
    const text = printCapabilities({ ...findCapabilities('duckdb')!, proven: ['where.none'] });
    expect(text).toContain(good);
    expect(() => parseCapabilities(text.replace(good, bad), 'x')).toThrow(problem);
  });
});
