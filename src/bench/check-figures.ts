/** The page of figures that `npm run bench check -- --write FILE` writes: what was measured, what was promised, what others publish. */
import { cpus } from 'node:os';
import type { Figure } from './measure.js';

/** What others took for histories of the same size (sessions × transactions × operations, or transactions × operations), on machines of theirs. */
export const published: Readonly<Record<string, string>> = {
  '25 × 200 × 20, causal': 'Plume 1.12 s',
  '50 × 200 × 20, causal': 'Plume 2.03 s',
  '100000 × 8, read committed': 'AWDIT 0.44 s',
  '100000 × 8, read atomic': 'AWDIT 0.58 s',
  '100000 × 8, causal': 'AWDIT 1.66 s',
};

/** What others say of their speed where no shape is the same. */
const claims: readonly (readonly [tool: string, language: string, claim: string])[] = [
  ['Elle (VLDB 2020)', 'Clojure', 'hundreds of thousands of transactions in tens of seconds'],
  [
    'PolySI (VLDB 2023)',
    'Java, MonoSAT',
    'snapshot isolation; 2,477 of 2,477 known anomalies, “large-sized workloads”',
  ],
  [
    'Viper (EuroSys 2023)',
    'Python, MonoSAT',
    'snapshot isolation; 15 times as many transactions as its baselines in the same time',
  ],
  [
    'VeriStrong (VLDB 2026)',
    'an SMT solver',
    'snapshot and serializable, values written twice included; faster than the tools it was compared with',
  ],
];

/** More work than cores: times on the clock are those of others' work, too. */
export const machineIsBusy = (load: number): boolean => load > cpus().length;

/** Our figures of the sizes and levels that others published one for; their names are size, store and level. */
function comparisons(figures: readonly Figure[]): string[] {
  return Object.entries(published).map(([shape, theirs]) => {
    const [size, level] = shape.split(', ') as [string, string];
    const ours = figures.filter(({ name }) => name.startsWith(`${size}, `) && name.endsWith(`, ${level}`));
    const shown = ours.map(
      ({ name, measured }) => `${measured} (${name.slice(size.length + 2, -level.length - 2)})`,
    );
    return [shape, theirs, shown.join('; ')].join(' | ');
  });
}

export function figuresPage(
  figures: readonly Figure[],
  { scale, load }: { readonly scale: number; readonly load: number },
): string {
  const [cpu] = cpus();
  const busy = machineIsBusy(load);
  const rows = figures.map(({ name, measured, target = '', pass }) =>
    [name, measured, target, pass === undefined ? '' : pass ? 'yes' : '**no**'].join(' | '),
  );
  return `${[
    '# Figures of the checkers',
    '',
    'Written by `npm run bench check -- --write docs/stages/check-figures.md`; do not edit it by hand. What is measured is described in',
    '[check](check.md#how-it-is-tested) and `src/bench/check-command-bench.ts`.',
    '',
    `Node ${process.version}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, load ${load.toFixed(1)} at the beginning${busy ? ': more work than cores. A target of time counts as met only where even the CPU time, which other work makes longer, is within it; where it is not, nothing is said' : ''}.`,
    ...(scale === 1 ? [] : [`Only ${scale} of the transactions: no target is held against it.`]),
    '',
    'Times are from the start of the program to its verdict, one run of `isolde check FILE --level LEVEL`. A *serial store* ran one transaction',
    'after the other, in the order of the file, which one pass over the file proves. In a *snapshot store* and a *serializable store* transactions overlap,',
    'and the file has them *as begun*, not as they took effect, or *session after session*. The *auction site* does what the RUBiS benchmark does.',
    '',
    'Reading and checking are overlapped as far as it gains: while a block of the file is parsed the next one is read',
    '([decision](../decisions/overlapped-reading.md)).',
    '',
    '| figure | measured | target | met |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
    '## Beside other tools',
    '',
    'What others took for a history of the same size: as many sessions, transactions and operations, at the same level. Their histories are not these, and',
    'their machines are others, so only the order of magnitude can be compared. 25 × 200 × 20 are sessions, transactions each, operations each.',
    '',
    '| size and level | they took | ours, by `isolde check FILE --level LEVEL` |',
    '|---|---|---|',
    ...comparisons(figures).map((row) => `| ${row} |`),
    '',
    '## What others say where no figure is comparable',
    '',
    '| tool | written in | what its authors say |',
    '|---|---|---|',
    ...claims.map((claim) => `| ${claim.join(' | ')} |`),
  ].join('\n')}\n`;
}
