/**
 * Measures the command a user types for a trace that Pisco published (TiDB #42487: 13 sessions, 23,984 operations, 42 MB
 * of JSON in an .xz archive), from the start of the process to its end. Pisco's own verifier takes 19 s for it. The trace
 * is not ours to ship: `ISOLDE_PISCO_TRACE` says where it is, and without it nothing is measured.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Figure, median, timeMs } from './measure.js';

const trace = process.env.ISOLDE_PISCO_TRACE ?? '../shared/data/pisco/tidb_42487.tar.xz';
const cli = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const runs = 5;

export async function benchTrace(): Promise<Figure[]> {
  const name = `isolde check of Pisco's TiDB trace, median of ${runs} runs`;
  if (!existsSync(trace)) return [{ name, measured: 'not measured: set ISOLDE_PISCO_TRACE to the archive' }];
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    times.push(
      await timeMs(async () => {
        const args = [cli, 'check', trace, '--contract', 'tidb:repeatable-read'];
        const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
        if (status !== 1) throw new Error(`${name}: expected a finding, got exit code ${status}: ${stderr}`);
      }),
    );
  }
  const seconds = median(times) / 1000;
  return [{ name, measured: `${seconds.toFixed(2)} s`, target: '≤ 3 s', pass: seconds <= 3 }];
}
