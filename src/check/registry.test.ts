/** What it takes to add an oracle: its folder, one line of the registry, a row for each kind of its findings. Counted here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeKind, findContract, findingKinds } from '../contracts/index.js';
import { oracles, oraclesFor, usualOracle } from './registry.js';

const src = fileURLToPath(new URL('..', import.meta.url));

/** Made for its programs, in no registry. */
const unregistered = ['burst'];
const names = [...oracles.map(({ name }) => name), ...unregistered];

/** Where names of oracles may stand: their own folders, the rows of their kinds, and the reader of files that had other kinds. */
const mayName = [
  /^check\/[\w-]+\//,
  /^contracts\/finding-kinds\.ts$/,
  /^hunt\/burst\//,
  /^store\/finding-file\.ts$/,
  /^bench\//,
];

function linesThatNameOracles(): string[] {
  const name = new RegExp(`'(?:${names.join('|')})'`);
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.tsx?$/.test(file) && !/\.(test|case)\.ts$/.test(file))
    .filter((file) => !mayName.some((allowed) => allowed.test(file)))
    .flatMap((file) =>
      readFileSync(join(src, file), 'utf8')
        .split('\n')
        // A word such as 'statement' is an oracle's name where it is compared with one.
        .filter(
          (line) => name.test(line) && (/oracle/i.test(line) || /'(dependency-graph|key-value)'/.test(line)),
        )
        .map((line) => `${file}: ${line.trim()}`),
    );
}

describe('adding an oracle', () => {
  it('touches nothing outside its folder, the registry and the table of kinds', () => {
    expect(linesThatNameOracles()).toEqual([]);
  });

  it('gives its findings kinds, and no kind is of an oracle that does not exist', () => {
    const reporting = new Set(
      findingKinds.flatMap((kind) => describeKind(kind).oracles as readonly string[]),
    );
    expect([...reporting].sort()).toEqual([...names].sort());
  });

  it('needs one import and one entry in the registry', () => {
    const text = readFileSync(join(src, 'check/registry.ts'), 'utf8');
    for (const folder of ['constraints', 'instrument', 'kv', 'mechanism', 'server', 'statement'])
      expect(text.split(`./${folder}/`)).toHaveLength(2);
  });
});

describe('the oracle of a run where none is named', () => {
  it('is the first that can judge by the contract', () => {
    for (const id of ['postgres:repeatable-read', 'adya:PL-3']) {
      const contract = findContract(id)!;
      expect(usualOracle(contract)).toBe(oraclesFor(contract)[0]);
    }
    expect(usualOracle(findContract('postgres:repeatable-read')).needs.run).toBe('plain');
    expect(usualOracle(findContract('adya:PL-3')).needs.run).toBe('instrumented');
    expect(usualOracle()).toBe(usualOracle(findContract('postgres:repeatable-read')));
  });
});
