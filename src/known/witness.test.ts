/** The one rule by which cells make two cases one bug or two. */
import { describe, expect, it } from 'vitest';
import { compareWitnesses, type Sighting, type WitnessCell } from './witness.js';

const signs: Readonly<Record<string, Sighting>> = {
  y: { shows: true },
  n: { shows: false },
  u: { shows: undefined },
  o: { shows: true, otherwise: 'T1.1 twice' },
  s: { shows: true, unsteady: true },
  a: { shows: false, unsteady: true },
};

/** `1.0 yy, 1.1? ON yn`: a version, `?` if the report was filed there, a setting, what both cases do. */
function cells(text: string): WitnessCell[] {
  return text.split(',').map((part): WitnessCell => {
    const words = part.trim().split(' ');
    const [one, other] = words.at(-1)!;
    const version = words[0]!.replace('?', '');
    const setting = words.length > 2 ? words[1]! : 'OFF';
    return {
      name: `${version} ${setting}`,
      build: {
        name: 'x',
        version,
        settings: { switch: setting, process: words[0]!.length > 3 ? 'own' : 'no' },
      },
      ...{ one: signs[one!]!, other: signs[other!]!, filed: words[0]!.endsWith('?') },
    };
  });
}
const compare = (text: string, alike = false) => compareWitnesses(cells(text), { alike });
const verdict = (text: string, alike = false) => compare(text, alike).verdict;

describe('two bugs', () => {
  it('are proved by a cell where one shows and the other does not', () => {
    expect(compare('1.0 yy, 2.0 yn')).toMatchObject({
      ...{ verdict: 'two', differ: ['2.0 OFF'], why: 'on 2.0 OFF the one shows and the other does not' },
    });
    expect(verdict('1.0 yy, 2.0 nn, 3.0 ny', true)).toBe('two');
  });

  it('are not proved where the one that is absent shows by chance elsewhere', () => {
    expect(verdict('1.0 ys, 2.0 ya')).toBe('undecided');
  });

  it('are not proved where the one that shows behaves otherwise: something else may break it there', () => {
    expect(verdict('1.0 yy, 2.0 on')).toBe('undecided');
    expect(verdict('1.0 yy, 2.0 on, 3.0 yn')).toBe('two');
  });

  it('are proved where the report was filed, if either case behaves otherwise there', () => {
    expect(compare('1.0 yy, 2.0? yo').why).toBe(
      'a change of the other (T1.1 twice) is answered otherwise on 2.0 OFF, where it was filed',
    );
    for (const seen of ['oy', 'yo', 'oo', 'uo', 'no']) expect(verdict(`1.0 yy, 2.0? ${seen}`)).toBe('two');
    for (const seen of ['oy', 'yo', 'oo', 'uo', 'no'])
      expect(verdict(`1.0 yy, 2.0 ${seen}`)).toBe('undecided');
  });
});

describe('one bug', () => {
  it('takes two changes that both go through together, if they do not behave alike', () => {
    expect(compare('1.0 nn, 2.0 yy, 3.0 nn')).toMatchObject({
      ...{ verdict: 'one', changes: ['1.0 to 2.0', '2.0 to 3.0'] },
    });
    expect(verdict('1.0 yy, 2.0 yy, 3.0 nn, 3.0 ON nn, 2.0 ON nn')).toBe('one');
  });

  it('is not proved by one change: a release fixes many, a setting a whole family', () => {
    // InnoDB: each version with the setting on and off; a version that has it by default is no second change.
    const family = '10.11 yy, 10.11 ON nn, 11.8 ON nn, 11.8 yy';
    expect(compare(family)).toMatchObject({ verdict: 'undecided', changes: ['switch'] });
    expect(compare(family).why).toContain('a single change (switch) may fix several bugs');
    expect(verdict('10.11 yy, 11.8 ON nn')).toBe('undecided');
    // Turso: everything of 0.4 is gone in 0.5.3.
    const release = '0.4.3 yy, 0.4.4 yy, 0.5.3 nn, 0.6.1 nn, 0.7.2 nn';
    expect(compare(release)).toMatchObject({ verdict: 'undecided', changes: ['0.4.4 to 0.5.3'] });
  });

  it('is proved by one change if they behave alike', () => {
    expect(compare('10.11 yy, 10.11 ON nn', true)).toMatchObject({
      ...{
        verdict: 'one',
        why: expect.stringContaining('they behave alike, and they show together on 10.11 OFF'),
      },
    });
  });

  it('is not proved by a build that shows neither, alone', () => {
    for (const alike of [true, false]) {
      expect(verdict('1.0 nn', alike)).toBe('undecided');
      expect(verdict('1.0 nn, 2.0 nn', alike)).toBe('undecided');
      expect(verdict('1.0 yy, 2.0 yy', alike)).toBe('undecided');
    }
  });

  it('is not claimed where the report does not even show in the build it was filed against', () => {
    expect(compare('1.0 nn, 2.0 yy, 3.0? nn')).toMatchObject({
      ...{ verdict: 'undecided', why: 'the other does not show on 3.0 OFF, where it was filed' },
    });
  });
});

it('cells that one of the two could not run in are counted and left out', () => {
  expect(compare('1.0 nu, 2.0 yy, 3.0 un')).toMatchObject({ verdict: 'undecided', leftOut: 2, changes: [] });
});
