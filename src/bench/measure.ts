/** What the benchmarks share. Absolute times are noisy: figures meant for a verdict are ratios within one run. */

import { cpus } from 'node:os';

/** One line of a benchmark's table; `pass` is undefined where nothing is promised. */
export interface Figure {
  readonly name: string;
  readonly measured: string;
  readonly target?: string;
  readonly pass?: boolean;
  /** What others publish. */
  readonly published?: string;
}

/** Prints figures as an aligned table. */
export function printFigures(title: string, figures: readonly Figure[], print: (line: string) => void): void {
  const rows = figures.map((figure) => [
    figure.name,
    figure.measured,
    figure.target ?? '',
    figure.pass === undefined ? '' : figure.pass ? 'ok' : 'MISSED',
  ]);
  const header = ['figure', 'measured', 'target', ''];
  const widths = header.map((text, i) => Math.max(text.length, ...rows.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  print(`\n${title}`);
  for (const row of [header, ...rows]) print(line(row));
}

/** The same as a page of the documentation, with the command that makes it. */
export function figuresPage(title: string, command: string, figures: readonly Figure[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const rows = figures.map(
    ({ name, measured, target = '', pass }) =>
      `| ${[name, measured, target, pass === undefined ? '' : pass ? 'met' : '**missed**'].map(cell).join(' | ')} |`,
  );
  return [
    `# ${title}: figures`,
    '',
    `Written by \`${command}\` with Node ${process.versions.node} on ${process.platform}-${process.arch}, ${cpus().length} processors. Times of a shared machine are noisy; ratios are not.`,
    '',
    '| figure | measured | target | |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** Milliseconds a piece of work takes. */
export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
