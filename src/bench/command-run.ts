/** Runs the built command as a process of its own, and says what it took. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Usage {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

export const command = fileURLToPath(new URL('../bin/isolde.js', import.meta.url));
const reporter = new URL('./report-usage.js', import.meta.url).href;

/** Time on the clock is measured, so the command is given more of it than any target. */
const budgetSeconds = '3600';

export const checkArgs = (file: string, level: string): string[] => [
  command,
  'check',
  file,
  '-l',
  level,
  '--budget',
  budgetSeconds,
];

/** Runs a program of Node; what it prints must hold `expected`. */
export async function run(args: readonly string[], expected = '\ttrue'): Promise<Usage> {
  const begin = performance.now();
  const child = spawn(process.execPath, ['--max-old-space-size=6000', '--import', reporter, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  await new Promise((resolve) => child.on('close', resolve));
  const seconds = (performance.now() - begin) / 1000;
  if (!out.includes(expected))
    throw new Error(`${args.join(' ')} should print ${expected}, but printed ${out.trim()} ${err.trim()}`);
  const { cpuMs, maxRssKb } = JSON.parse(err.slice(err.lastIndexOf('usage ') + 6)) as Record<string, number>;
  return { seconds, cpuSeconds: cpuMs! / 1000, megabytes: Math.round(maxRssKb! / 1024) };
}
