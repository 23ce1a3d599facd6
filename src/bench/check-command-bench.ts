/**
 * The command as a user meets it: `isolde check FILE`, from the start of the program to its verdict, one run each. Histories
 * come from a serial store, so every verdict must be `true`; with one anomaly planted it must be `false`, with its name and a proof
 * of at most six transactions.
 *
 * `--scale 0.1` takes a tenth of the transactions; then no target is said to be met or missed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkKv, verifyCertificate } from '../check/index.js';
import { ednEvent, listAppendEvents, registerLines, writeLines } from './history-files.js';
import type { Figure } from './measure.js';
import { plantedAnomalies, plantedHistory } from './planted.js';

interface Limits {
  readonly seconds: number;
  readonly megabytes?: number;
}

interface Usage {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

const command = fileURLToPath(new URL('../bin/isolde.js', import.meta.url));
const reporter = new URL('./report-usage.js', import.meta.url).href;

export async function benchCheckCommand(options: readonly string[] = []): Promise<Figure[]> {
  const scale = Number(options[options.indexOf('--scale') + 1] ?? 1) || 1;
  // The program as it is installed.
  execFileSync(process.execPath, ['scripts/bundle.mjs', join(command, '..')], { stdio: 'inherit' });
  const folder = await mkdtemp(join(tmpdir(), 'isolde-bench-'));
  const figures: Figure[] = [];
  const measure = async (name: string, file: string, level: string, limits: Limits): Promise<Usage> => {
    const usage = await run(file, level);
    figures.push(figure(`${name}, ${level}`, usage, limits, scale === 1));
    return usage;
  };
  try {
    const small = join(folder, 'small.txt');
    for (const [sessions, seconds] of [
      [25, 0.4],
      [50, 0.6],
    ] as const) {
      await writeLines(small, registerLines({ sessions, txCount: sessions * 200, opCount: 20, keys: 1000 }));
      await measure(`${sessions} × 200 × 20`, small, 'causal', { seconds });
    }
    for (const shape of [
      { txCount: 100_000, opCount: 8, keys: 10_000, weak: 1.5, strong: 30, megabytes: 2048 },
      { txCount: 1_000_000, opCount: 4, keys: 100_000, weak: 8, strong: 180, megabytes: 6144 },
    ]) {
      const txCount = Math.round(shape.txCount * scale);
      const keys = Math.round(shape.keys * scale);
      const file = join(folder, 'registers.txt');
      await writeLines(file, registerLines({ sessions: 50, txCount, opCount: shape.opCount, keys }));
      const name = `${txCount} × ${shape.opCount}`;
      for (const level of ['read committed', 'read atomic', 'causal'])
        await measure(name, file, level, { seconds: shape.weak });
      for (const level of ['snapshot', 'serializable'])
        await measure(name, file, level, { seconds: shape.strong, megabytes: shape.megabytes });
      await rm(file);
    }
    const lists = join(folder, 'append.edn');
    const txCount = Math.round(1_000_000 * scale);
    await writeLines(lists, listAppendEvents(txCount, ednEvent));
    await measure(`list-append ${txCount} × 4`, lists, 'serializable', { seconds: 5 });
    figures.push(...(await growth(folder, scale)), ...planted(Math.round(100_000 * scale)));
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function figure(name: string, usage: Usage, { seconds, megabytes }: Limits, judged: boolean): Figure {
  const memory = megabytes === undefined ? '' : `, ≤ ${megabytes} MB`;
  return {
    name,
    measured: `${usage.seconds.toFixed(2)} s (${usage.cpuSeconds.toFixed(2)} s CPU), ${usage.megabytes} MB`,
    target: `≤ ${seconds} s${memory}`,
    ...(judged && {
      pass: usage.seconds <= seconds && usage.megabytes <= (megabytes ?? Number.POSITIVE_INFINITY),
    }),
  };
}

/** Twice the transactions take little more than twice the time. */
async function growth(folder: string, scale: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  const file = join(folder, 'growing.txt');
  for (const level of ['causal', 'snapshot', 'serializable']) {
    const cpu: number[] = [];
    for (const txCount of [50_000 * scale, 100_000 * scale].map(Math.round)) {
      await writeLines(file, registerLines({ sessions: 50, txCount, opCount: 8, keys: 10_000 }));
      cpu.push((await run(file, level)).cpuSeconds);
    }
    const ratio = cpu[1]! / cpu[0]!;
    figures.push({
      name: `CPU time for ${100_000 * scale} ÷ for ${50_000 * scale}, ${level}`,
      measured: ratio.toFixed(2),
      target: '≤ 2.4',
      ...(scale === 1 && { pass: ratio <= 2.4 }),
    });
  }
  return figures;
}

function planted(txCount: number): Figure[] {
  return plantedAnomalies.map((anomaly) => {
    const history = plantedHistory(anomaly, txCount);
    const options = { definitions: 'adya', strongest: false, certificate: true } as const;
    const { valid, findings, certificate } = checkKv(history, { ...options, level: anomaly.level });
    const kinds = [...new Set(findings.map(({ kind }) => kind))].join(', ');
    const size = certificate?.valid === false ? certificate.transactions.length : Number.POSITIVE_INFINITY;
    const proved = certificate !== undefined && verifyCertificate(history, certificate).accepted;
    return {
      name: `${anomaly.name} among ${txCount} transactions`,
      measured: `${valid}, ${kinds}, ${proved ? `proved by ${size} transactions` : 'not proved'}`,
      target: `${anomaly.kind}, ≤ 6 transactions`,
      pass: valid === false && kinds === anomaly.kind && proved && size <= 6,
    };
  });
}

async function run(file: string, level: string): Promise<Usage> {
  const begin = performance.now();
  const args = ['--max-old-space-size=6000', '--import', reporter, command, 'check', file, '-l', level];
  const child = spawn(process.execPath, [...args, '--budget', '180'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  await new Promise((resolve) => child.on('close', resolve));
  const seconds = (performance.now() - begin) / 1000;
  if (!out.includes('\ttrue'))
    throw new Error(`${file} is ${level}, but the verdict is ${out.trim()} ${err.trim()}`);
  const { cpuMs, maxRssKb } = JSON.parse(err.slice(err.lastIndexOf('usage ') + 6)) as Record<string, number>;
  return { seconds, cpuSeconds: cpuMs! / 1000, megabytes: Math.round(maxRssKb! / 1024) };
}
