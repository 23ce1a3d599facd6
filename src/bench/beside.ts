/**
 * The figures of two builds side by side: benchmarks run here and in another checkout in turn, so that what a shared machine does
 * meets both. `node build/bench/beside.js FOLDER NAME… [--times 3] [--write FILE [--section bench]] [-- OPTIONS]` (after `npm run build:tools`; FOLDER is built,
 * too; OPTIONS go to the benchmarks).
 *
 * 1. Each round runs every named benchmark there, then here, as programs of their own.
 * 2. A figure is the row of one name; names that say a measured number (`mean size 5.3`) are the same without it.
 * 3. Of each row the first number counts. The table shows the median of the rounds and after ÷ before.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './measure.js';
import { writeSection } from './page-section.js';

/** One row of a printed table of figures. */
export interface PrintedFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Whether more is better, less is better, or nobody said. */
  readonly better: 'more' | 'less' | undefined;
}

/** The figures in what a benchmark printed. */
export function printedFigures(text: string): PrintedFigure[] {
  const lines = text.split('\n');
  const figures: PrintedFigure[] = [];
  let columns: readonly number[] | undefined;
  for (const line of lines) {
    if (/^figure +measured +target/.test(line)) {
      columns = [line.indexOf('measured'), line.indexOf('target')];
    } else if (line.trim() === '') {
      columns = undefined;
    } else if (columns !== undefined) {
      const [measuredAt, targetAt] = columns as [number, number];
      const [name, measured, target] = [
        line.slice(0, measuredAt),
        line.slice(measuredAt, targetAt),
        line.slice(targetAt),
      ];
      const number = /([\d.]+)(?: ?(%|[^\s\d(,]+))?/.exec(measured);
      if (number === null) continue;
      const unit = number[2] ?? '';
      figures.push({
        name: name.trim(),
        value: Number(number[1]),
        unit,
        better: betterOf(name, target, unit),
      });
    }
  }
  return figures;
}

function betterOf(name: string, target: string, unit: string): PrintedFigure['better'] {
  if (/^\s*(≥|>=|>)/.test(target) || /\/s$|^×$/.test(unit) || /cases a minute/.test(name)) return 'more';
  if (/^\s*(≤|<=|<)/.test(target) || ['s', 'ms', 'MB'].includes(unit)) return 'less';
  return undefined;
}

/** One figure of both builds. */
export interface Pair {
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  readonly better: PrintedFigure['better'];
}

/** The figures that both builds have, as medians of their rounds. */
export function pairFigures(before: readonly PrintedFigure[], after: readonly PrintedFigure[]): Pair[] {
  const key = ({ name }: PrintedFigure) => name.replace(/\d+\.\d+/g, '#');
  const middle = (figures: readonly PrintedFigure[]) => median(figures.map(({ value }) => value));
  return [...new Set(after.map(key))].flatMap((name) => {
    const [theirs, ours] = [before, after].map((figures) => figures.filter((each) => key(each) === name)) as [
      PrintedFigure[],
      PrintedFigure[],
    ];
    if (theirs.length === 0) return [];
    const { name: printed, unit, better } = ours[0]!;
    return [{ name: printed, unit, before: middle(theirs), after: middle(ours), better }];
  });
}

/** The pairs as a table in Markdown. */
export function pairsTable(pairs: readonly Pair[]): string {
  const rows = pairs.map(({ name, unit, before, after, better }) => {
    const ratio = after / before;
    const loss = better === 'more' ? 1 - ratio : better === 'less' ? ratio - 1 : 0;
    const cells = [
      name,
      `${before} ${unit}`,
      `${after} ${unit}`,
      ratio.toFixed(2),
      better ?? '',
      loss > 0.05 ? 'yes' : '',
    ];
    return `| ${cells.map((cell) => cell.trim().replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [
    '| figure | before | after | after ÷ before | better | worse by over 5 % |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function run(folder: string, name: string, options: readonly string[]): PrintedFigure[] {
  const built = ['build', 'dist'].find((each) => existsSync(join(folder, each, 'bench/main.js')));
  if (built === undefined) throw new Error(`${folder} is not built: it has no bench/main.js`);
  const { stdout, stderr } = spawnSync(process.execPath, [`${built}/bench/main.js`, name, ...options], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  process.stderr.write(`${folder} ${name}\n${stdout}${stderr}\n`);
  return printedFigures(stdout);
}

async function main(line: readonly string[]): Promise<void> {
  const cut = line.includes('--') ? line.indexOf('--') : line.length;
  const [args, options] = [line.slice(0, cut), line.slice(cut + 1)];
  const optionOf = (option: string) => (args.includes(option) ? args[args.indexOf(option) + 1] : undefined);
  const [folder, ...names] = args.filter((arg, i) => !arg.startsWith('--') && !args[i - 1]?.startsWith('--'));
  if (folder === undefined || names.length === 0) {
    console.error(
      'node build/bench/beside.js FOLDER NAME… [--times 3] [--write FILE [--section bench]] [-- OPTIONS]',
    );
    process.exit(3);
  }
  const times = Number(optionOf('--times') ?? '3');
  const [before, after]: [PrintedFigure[], PrintedFigure[]] = [[], []];
  for (let round = 0; round < times; round++) {
    for (const name of names) {
      before.push(...run(folder, name, options));
      after.push(...run('.', name, options));
    }
  }
  const table = pairsTable(pairFigures(before, after));
  console.log(table);
  const page = optionOf('--write');
  if (page !== undefined) await writeSection(page, optionOf('--section') ?? 'bench', table);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
