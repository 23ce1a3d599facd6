/**
 * What CONTRIBUTING.md says it takes to add a fault, an anomaly, an export or a history format, counted: a file that names (nearly) every one of a kind
 * is a list that a new one has to be put into. Each such list is in its section, and there are no others. Targets and oracles are counted beside
 * their registries.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatNames } from '../src/histories/index.js';
import { probeCases } from '../src/probe/index.js';
import { exportForms } from '../src/report/index.js';
import { faultNames } from '../src/targets/faults/index.js';

const code = new Map(
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ts$/.test(file) && !/\.(test|case)\.ts$/.test(file) && !file.startsWith('bench'))
    .map((file) => {
      const text = readFileSync(join('src', file), 'utf8');
      const bare = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
      return [join('src', file), bare] as const;
    }),
);

/** The files that name at least nine of ten. */
function listsOf(names: readonly string[]): string[] {
  const isNamed = (text: string, name: string) =>
    text.includes(`'${name}'`) || new RegExp(`^\\s*${name.replaceAll(/\W/g, '\\$&')}: `, 'm').test(text);
  return [...code].flatMap(([file, text]) =>
    names.filter((name) => isNamed(text, name)).length >= names.length * 0.9 ? [file] : [],
  );
}

function section(title: string): string {
  const text = readFileSync('CONTRIBUTING.md', 'utf8').split(/^## /m);
  return text.find((each) => each.startsWith(`${title}\n`))!;
}

const kinds = [
  {
    title: 'Add a fault',
    names: faultNames,
    lists: ['src/targets/faults/fault-spec.ts', 'src/targets/faults/mechanisms.ts'],
  },
  {
    title: 'Add an anomaly to the probe',
    names: [...new Set(probeCases.map(({ anomaly }) => anomaly))],
    lists: ['src/check/kv/kv-contract.ts', 'src/contracts/anomaly-sets.ts', 'src/contracts/finding-kinds.ts'],
  },
  {
    title: 'Add a history format',
    names: formatNames,
    lists: [
      'src/histories/formats/format.ts',
      'src/histories/formats/registry.ts',
      'src/histories/formats/samples.ts',
    ],
  },
] as const;

describe.each(kinds)('$title', ({ title, names, lists }) => {
  it('touches the lists that CONTRIBUTING.md names, and no others', () => {
    expect(names.length).toBeGreaterThan(8);
    expect(listsOf(names).sort()).toEqual(lists);
    for (const file of lists) expect(section(title)).toContain(`\`${file}\``);
  });
});

describe('Add an export', () => {
  it('takes a file of its own and a line of the registry; nothing outside their folder knows it', () => {
    const own = [...code].filter(([, text]) => /^export const \w+: ExportForm = /m.test(text));
    expect(own).toHaveLength(exportForms.length);
    for (const [file] of own) {
      expect(file).toMatch(/^src\/report\/exports\//);
      const form = /^export const (\w+): ExportForm/m.exec(code.get(file)!)![1]!;
      const users = [...code]
        .filter(([, text]) => new RegExp(`\\b${form}\\b`).test(text))
        .map(([other]) => other);
      expect(users).toContain('src/report/exports/index.ts');
      // One form may be part of another; nobody outside knows any.
      expect(users.filter((other) => !other.startsWith('src/report/exports/'))).toEqual([]);
    }
  });
});
