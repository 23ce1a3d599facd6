/**
 * `npm run campaign crash [-- --target URL … --count N]`: short hunts with the engine in the hunt's process and in one of its own. How
 * many end with the process, how many find the crash as a bug, and what the other process costs.
 *
 * A hunt does the same rounds in both, so their processor time can be compared; it counts that of the engine's process, too. Old
 * versions that abort are installed beside the repository's own:
 *
 *     npm install --no-save turso-0-4@npm:@tursodatabase/database@0.4.4
 *     npm run campaign crash -- --target 'turso:?package=turso-0-4' --target 'turso:?package=turso-0-4&mode=mvcc'
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { childrenCpuMs, openFolder, startIsolde } from './processes.js';
import type { CampaignTable } from './table.js';

export interface CrashOptions {
  readonly count: number;
  readonly seed: string;
  /** Versions that may abort. */
  readonly targets: readonly string[];
}

/** What Isolde comes with, for what a process of its own costs. */
const usual = ['duckdb:', 'sqlite:', 'turso:', 'turso:?mode=mvcc'];
const usualHunts = 5;
const rounds = 40;
const places = ['same', 'own'] as const;

interface Tally {
  hunts: number;
  ended: number;
  crashes: number;
  bugs: number;
  rounds: number;
  cpuMs: number;
}

export async function crash({ count, seed, targets }: CrashOptions): Promise<CampaignTable> {
  const failures: string[] = [];
  const rows: string[][] = [];
  for (const [target, hunts] of [
    ...targets.map((each) => [each, count] as const),
    ...usual.map((each) => [each, usualHunts] as const),
  ]) {
    const tallies = new Map(places.map((place) => [place, newTally()]));
    for (let i = 0; i < hunts; i++) {
      // One after the other with the same seed: what else the machine does meets both.
      for (const place of places) await huntOnce(target, place, `${seed}-${i}`, tallies.get(place)!);
    }
    for (const place of places) rows.push(rowOf(target, place, tallies.get(place)!, tallies.get('same')!));
    const { ended } = tallies.get('own')!;
    if (ended > 0) failures.push(`${target}: ${ended} hunts ended with an engine that had its own process`);
    console.error(rows.slice(-2).join('\n'));
  }
  return {
    name: 'crash',
    title: 'Engines that abort',
    about: `Hunts of ${rounds} rounds, at most a minute, with the engine in the hunt's process (\`process=same\`) and in one of its own (\`process=own\`, the default of \`package=\`). Processor time is that of hunts that did all their rounds in both; it includes the start and what confirming and reducing bugs takes. A failure is a hunt that ended with an engine in a process of its own.`,
    command: `npm run campaign crash -- --count ${count} --seed ${seed}${targets.map((each) => ` --target '${each}'`).join('')}`,
    heads: [
      'target',
      'process',
      'hunts',
      'ended with the process',
      'found a crash',
      'bugs',
      'processor time a round, ms',
      'times that of `same`',
      'failures',
    ],
    rows,
    failures,
  };
}

const newTally = (): Tally => ({ hunts: 0, ended: 0, crashes: 0, bugs: 0, rounds: 0, cpuMs: 0 });

function rowOf(target: string, place: (typeof places)[number], tally: Tally, same: Tally): string[] {
  const cost = ({ cpuMs, rounds: done }: Tally) => cpuMs / done;
  const comparable = tally.rounds > 0 && same.ended === 0 && same.crashes === 0 && tally.crashes === 0;
  return [
    `\`${target}\``,
    place,
    String(tally.hunts),
    String(tally.ended),
    String(tally.crashes),
    String(tally.bugs),
    tally.rounds === 0 ? '' : cost(tally).toFixed(0),
    comparable && place === 'own' ? (cost(tally) / cost(same)).toFixed(2) : '',
    place === 'own' ? String(tally.ended) : '',
  ];
}

async function huntOnce(target: string, place: string, seed: string, tally: Tally): Promise<void> {
  const folder = await openFolder('crash');
  try {
    const url = `${target}${target.includes('?') ? '&' : '?'}process=${place}`;
    const store = join(folder, 'store');
    const limits = ['--rounds', `0..${rounds - 1}`, '--for', '60s'];
    const before = childrenCpuMs();
    const { code, said } = await startIsolde(
      ['hunt', url, '--seed', seed, ...limits, '--store', store, '--json'],
      folder,
      process.cwd(),
    ).ended;
    tally.hunts++;
    const bugs = existsSync(join(store, 'bugs')) ? readdirSync(join(store, 'bugs')) : [];
    tally.bugs += bugs.length;
    const findingOf = (id: string) => readFileSync(join(store, 'bugs', id, 'finding.json'), 'utf8');
    if (bugs.some((id) => findingOf(id).includes('"server-crash"'))) tally.crashes++;
    const finished = Number(/"finished":(\d+)/.exec(said)?.[1] ?? 0);
    if (code !== 0 && code !== 1) tally.ended++;
    else if (finished === rounds) {
      tally.rounds += finished;
      tally.cpuMs += childrenCpuMs() - before;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
