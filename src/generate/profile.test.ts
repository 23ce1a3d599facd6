import { describe, expect, it } from 'vitest';
import { FileError } from '../errors.js';
import { allFeatures, featureGroups, type GroupName } from './features.js';
import { findProfile, parseProfile, profiles } from './profile.js';

const head = '{"format": "isolde-profile", "version": 1}';

describe('profiles', () => {
  it('have a weight for every feature, and chances between 0 and 1', () => {
    for (const { name, weights } of profiles) {
      expect(Object.keys(weights).toSorted(), name).toEqual(allFeatures.toSorted());
      for (const feature of allFeatures) {
        const chance = featureGroups[feature.split('.')[0] as GroupName].draw === 'chance';
        expect(weights[feature], `${name} ${feature}`).toBeGreaterThanOrEqual(0);
        if (chance) expect(weights[feature], `${name} ${feature}`).toBeLessThanOrEqual(1);
      }
    }
  });

  it('of a file cannot ask for cases that never end', () => {
    const fields = { format: 'isolde-profile', version: 1, name: 'x' };
    const most = { ...fields, sessions: 64, transactions: [1, 100_000], statements: 10_000 };
    expect(() => parseProfile(JSON.stringify(most), 'x.json')).toThrow(
      /allow cases of 64000000000 statements; at most 50000 are accepted/,
    );
    const large = { ...fields, sessions: 50, transactions: 100, statements: 10 };
    expect(parseProfile(JSON.stringify(large), 'x.json').sessions).toEqual([50, 50]);
  });

  it('can be read from a file that says only what differs', () => {
    const text = `{
      "format": "isolde-profile", "version": 1,
      "name": "mine", "extends": "simple", "sessions": 3, "rows": [1, 2], "hot": 1,
      "weights": { "statement.delete": 0, "where.rid": 20 }
    }`;
    const profile = parseProfile(text, 'mine.json');
    const simple = findProfile('simple')!;
    expect(profile).toEqual({
      ...simple,
      name: 'mine',
      description: 'own profile, based on simple',
      sessions: [3, 3],
      rows: [1, 2],
      hot: 1,
      weights: { ...simple.weights, 'statement.delete': 0, 'where.rid': 20 },
    });
  });

  it.each([
    ['[1]', 'mine.json:1: expected an object'],
    ['{', 'mine.json:1: this is not JSON'],
    ['{}', 'expected "format": "isolde-profile", found nothing'],
    [head, 'mine.json:1 (name): expected text, found nothing'],
    [`${head.slice(0, -1)}, "name": "x",\n "size": 3}`, 'mine.json:2 (size): unknown field size'],
    [
      `${head.slice(0, -1)}, "name": "x",\n "extends": "mixd"}`,
      'mine.json:2 (extends): expected one of mixed',
    ],
    [`${head.slice(0, -1)}, "name": "x", "tables": 9}`, '(tables): expected 1 to 4, found 9'],
    [
      `${head.slice(0, -1)}, "name": "x", "rows": [3, 1]}`,
      '(rows): expected a range inside [1, 1000], found [3,1]',
    ],
    [
      `${head.slice(0, -1)}, "name": "x", "rows": [3]}`,
      '(rows): expected a number or [low, high], found [3]',
    ],
    [`${head.slice(0, -1)}, "name": "x", "hot": 2}`, '(hot): expected a number from 0 to 1, found 2'],
    [
      `${head.slice(0, -1)}, "name": "x", "uniqueValues": 1}`,
      '(uniqueValues): expected true or false, found 1',
    ],
    [
      `${head.slice(0, -1)}, "name": "x", "weights": {\n"where.rids": 1}}`,
      'mine.json:2 (weights["where.rids"]): unknown feature where.rids',
    ],
    [
      `${head.slice(0, -1)}, "name": "x", "weights": {"where.rid": -1}}`,
      'expected a number from 0 to 1000000, found -1',
    ],
    [
      `${head.slice(0, -1)}, "name": "x", "weights": {"column.unique": 1.5}}`,
      'expected a number from 0 to 1, found 1.5',
    ],
  ])('says what is wrong with %s', (text, problem) => {
    let thrown: unknown;
    try {
      parseProfile(text, 'mine.json');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(FileError);
    expect((thrown as FileError).message).toContain(problem);
  });
});
