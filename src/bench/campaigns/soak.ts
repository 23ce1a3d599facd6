/**
 * `npm run campaign soak [-- --minutes M --target URL …]`: a hunt for a long time on each target, one after another, and
 * whether what it uses stays flat: memory of the hunt, descriptors, connections, memory and processes of the server, bytes in
 * the temporary folder and where the server keeps its data. Compared are the medians of the second and of the last quarter of the
 * time. The store is not among it: it grows with what is found. By the second quarter caches of a fixed size have to be full: InnoDB's buffer pool
 * takes some minutes for that.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  bytesIn,
  dataFolderOf,
  descriptors,
  familyOf,
  openFolder,
  privateBytes,
  sockets,
  startIsolde,
} from './processes.js';
import type { CampaignTable } from './table.js';

export interface SoakOptions {
  /** Over all targets. */
  readonly minutes: number;
  readonly targets?: readonly string[] | undefined;
}

const measures = [
  'hunt, MB',
  'descriptors',
  'connections',
  'server, MB',
  'server processes',
  'temporary, MB',
] as const;
type Sample = readonly number[];

/** A leak grows by more than this, and by more than what is lost in noise. */
const growth = 1.33;
const noise: Sample = [48, 8, 4, 24, 3, 32];

const usualTargets = ['postgres:', 'mariadb:', 'duckdb:'];

export async function soak({ minutes, targets = usualTargets }: SoakOptions): Promise<CampaignTable> {
  const rows: string[][] = [];
  const failures: string[] = [];
  const seconds = Math.round((minutes * 60) / targets.length);
  for (const target of targets) {
    const { samples, code } = await watch(target, seconds);
    const quarter = (n: number) => samples.slice((samples.length * n) / 4, (samples.length * (n + 1)) / 4);
    measures.forEach((measure, m) => {
      const [early, late] = [quarter(1), quarter(3)].map((some) => median(some.map((sample) => sample[m]!)));
      const grown = hasGrown(early!, late!, noise[m]!);
      rows.push([target, measure, early!.toFixed(0), late!.toFixed(0), grown ? '1' : '0']);
      if (grown)
        failures.push(
          `${target}: ${measure} grew from ${early!.toFixed(0)} to ${late!.toFixed(0)} in ${seconds} s`,
        );
    });
    if (code !== 0 && code !== 1) failures.push(`${target}: the hunt ended with ${code}`);
  }
  return {
    name: 'soak',
    title: 'A long hunt',
    about: `A hunt of ${seconds} s on each target, sampled every few seconds. Compared are the medians of the second and the last quarter; growth by more than a third, and by more than noise, is a failure.`,
    command: `npm run campaign soak -- --minutes ${minutes}${targets === usualTargets ? '' : targets.map((url) => ` --target '${url}'`).join('')}`,
    heads: ['target', 'measure', 'second quarter', 'last quarter', 'failures'],
    rows,
    failures,
  };
}

export const hasGrown = (early: number, late: number, lostInNoise: number): boolean =>
  late > early * growth && late > early + lostInNoise;

async function watch(target: string, seconds: number): Promise<{ samples: Sample[]; code: number | string }> {
  const folder = await openFolder('soak');
  const samples: Sample[] = [];
  try {
    const temporary = join(folder, 'tmp');
    await mkdir(temporary);
    const args = ['hunt', target, '--for', `${seconds}s`, '--seed', 'soak', '--store', join(folder, 'store')];
    const { child, ended } = startIsolde(args, temporary, folder);
    const take = () => {
      samples.push(sampleOf(child.pid!, temporary));
      if (samples.length % 25 === 0) console.error(`${target} ${samples.at(-1)!.map(Math.round).join(' ')}`);
    };
    // A hundred samples.
    const timer = setInterval(take, Math.max(500, seconds * 10));
    const { code, said } = await ended;
    clearInterval(timer);
    if (code !== 0 && code !== 1) console.error(said);
    return { samples, code };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sampleOf(pid: number, folder: string): Sample {
  const megabytes = (bytes: number) => bytes / 1024 ** 2;
  const others = familyOf(pid).slice(1);
  const server = others.reduce((sum, each) => sum + privateBytes(each), 0);
  // A server may keep its data in shared memory.
  const data = others.map(dataFolderOf).find((each) => each !== undefined && !each.startsWith(folder));
  return [
    megabytes(privateBytes(pid)),
    descriptors(pid),
    sockets(pid),
    megabytes(server),
    others.length,
    megabytes(bytesIn(folder) + (data === undefined ? 0 : bytesIn(data))),
  ];
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
