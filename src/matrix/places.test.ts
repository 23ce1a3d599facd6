import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../errors.js';
import { type PlacesOptions, placesOf } from './places.js';

const published = ['1.0.0', '1.1.2', '1.1.3', '1.2.0-pre.1', '1.2.0', '1.10.0'];
const places = (options: Partial<PlacesOptions>) =>
  placesOf({
    targets: ['duckdb:'],
    published: async () => published,
    local: async () => ['1.1.3'],
    ...options,
  });
const urls = async (options: Partial<PlacesOptions>) => (await places(options)).map(({ url }) => url);

describe('placesOf', () => {
  it('takes the installed one of an engine npm does not have, where local ones are asked for', async () => {
    expect(await urls({ targets: ['mariadb:', 'duckdb:'], versions: ['local'] })).toEqual([
      'mariadb:',
      'duckdb@1.1.3:',
    ]);
  });

  it('takes targets as they are where no versions are asked for', async () => {
    expect(await places({ targets: ['duckdb', 'turso@0.4.4:?mode=mvcc', 'mariadb:'] })).toEqual([
      { url: 'duckdb:', engine: 'duckdb', settings: '' },
      { url: 'turso@0.4.4:?mode=mvcc', engine: 'turso', version: '0.4.4', settings: 'mode=mvcc' },
      { url: 'mariadb:', engine: 'mariadb', settings: '' },
    ]);
  });

  it('lists versions, ranges, all releases and what is here, each once and from the oldest', async () => {
    expect(await urls({ versions: ['1.2.0', '1.1.3', '1.1.3'] })).toEqual(['duckdb@1.1.3:', 'duckdb@1.2.0:']);
    expect(await urls({ versions: ['1.1..1.2'] })).toEqual([
      'duckdb@1.1.2:',
      'duckdb@1.1.3:',
      'duckdb@1.2.0:',
    ]);
    expect(await urls({ versions: ['1.2..'] })).toEqual(['duckdb@1.2.0:', 'duckdb@1.10.0:']);
    expect(await urls({ versions: ['all'] })).toHaveLength(5);
    expect(await urls({ versions: ['local', '1.2.0-pre.1'] })).toEqual([
      'duckdb@1.1.3:',
      'duckdb@1.2.0-pre.1:',
    ]);
  });

  it('multiplies by settings, of the command line or of the engine', async () => {
    const made = await places({
      targets: ['turso:?x=1'],
      versions: ['0.4.4'],
      settings: ['mode=wal,mvcc', 'threads=1,2'],
    });
    expect(made.map(({ settings }) => settings)).toEqual([
      'x=1 mode=wal threads=1',
      'x=1 mode=wal threads=2',
      'x=1 mode=mvcc threads=1',
      'x=1 mode=mvcc threads=2',
    ]);
    expect(made[0]!.url).toBe('turso@0.4.4:?x=1&mode=wal&threads=1');
    expect(await urls({ targets: ['sqlite:'], settings: ['all'] })).toEqual([
      'sqlite:?journal=wal',
      'sqlite:?journal=delete',
    ]);
  });

  it.each([
    { versions: ['../x'] },
    { versions: ['1.1...2'] },
    { versions: ['latest'] },
    { settings: ['mode'] },
    { settings: ['mode=a&package=x'] },
    { settings: ['a b=c'] },
    { targets: ['mariadb:'], versions: ['all'] },
  ])('refuses %j', async (options) => {
    await expect(places(options)).rejects.toThrow(IsoldeError);
  });
});
