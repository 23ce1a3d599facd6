/** What the benchmarks share. Absolute times are noisy: figures meant for a verdict are ratios within one run. */

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
