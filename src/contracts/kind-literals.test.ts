/**
 * No stage switches on the name of a kind: what it needs to know stands in the table, so that a new row is complete and not forgotten
 * somewhere. Oracles name what they find (`check/`, `hunt/burst/`); a name that is only written, not compared, is none of this.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, it } from 'vitest';
import { findingKinds } from './finding-kinds.js';

const source = join(import.meta.dirname, '..');

/** Where kinds are compared by name, and why. */
const allowed: readonly (readonly [place: string, why: string])[] = [
  ['contracts/', 'the table'],
  ['check/', 'oracles'],
  ['hunt/burst/', 'the oracle of bursts, and what contracts forbid'],
  ['bench/', 'measurements: causes of known bugs by kind; not in the package'],
  ['store/finding-file.ts', 'a kind that files of version 1 call otherwise'],
];

const literal = `'(?:${findingKinds.join('|')})'`;
/** Classes of errors have some of the names, so a name counts only beside a kind. */
const kind = String.raw`\b(?:\w*[kK]ind|name|anomaly|base)\b`;
const comparisons = [
  `${kind}\\)?\\s*[!=]==\\s*${literal}`,
  `${literal}\\s*[!=]==\\s*[\\w.]*${kind}`,
  `\\[[^\\]]*${literal}[^\\]]*\\]\\s*(?:as const\\s*)?\\)?\\.includes\\([\\w.]*${kind}`,
  `Set<(?:FindingKind|BaseKind|GraphAnomaly)>\\(\\s*\\[`,
  `switch \\([\\w.]*${kind}\\) \\{\\s*case ${literal}:`,
].map((pattern) => new RegExp(pattern, 'g'));

const comparisonsIn = (text: string): string[] =>
  comparisons.flatMap((pattern) => [...text.matchAll(pattern)].map(([match]) => match));

it.each([
  "if (finding.kind === 'lock-violated') return",
  "'G-single' !== finding.kind",
  "const own = name === 'own-delete-missed' ? 1 : 2",
  "['lost-write', 'G0'].includes(finding.kind)",
  "const some = new Set<FindingKind>(['G0'])",
  "switch (kind) {\n  case 'write-skew':",
])('sees a comparison: %s', (text) => {
  expect(comparisonsIn(text)).toHaveLength(1);
});

it.each(["error?.class === 'connection-lost'", "kind: 'lost-update',", "if (kind === 'commit') return"])(
  'sees none: %s',
  (text) => {
    expect(comparisonsIn(text)).toEqual([]);
  },
);

it('no stage compares kinds by their names', () => {
  const files = readdirSync(source, { recursive: true })
    .map((file) => String(file).split(sep).join('/'))
    .filter((file) => /\.tsx?$/.test(file) && !/\.(?:test|case)\.tsx?$/.test(file))
    .filter((file) => !allowed.some(([place]) => file.startsWith(place)));
  const found = files.flatMap((file) =>
    comparisonsIn(readFileSync(join(source, file), 'utf8')).map((match) => `${file}: ${match}`),
  );
  expect(found, 'give the table src/contracts/finding-kinds.ts a column instead').toEqual([]);
});
