/**
 * `duckdb:?process=own` (and `turso:`, `sqlite:`): an embedded engine in a process of its own. When it aborts, its statements are answered
 * with the class `crash` and Isolde goes on; inside our own process nothing would be left to answer. Costs a message to another
 * process and back for every statement.
 */
import { fileURLToPath } from 'node:url';
import type { OpenOptions, Target, TargetReach } from '../target.js';
import { openAdapter } from './exec-target.js';

export async function openInOwnProcess(url: string, inner: string, options: OpenOptions): Promise<Target> {
  // There, it is the process of the engine.
  const there = `${inner}${inner.includes('?') ? '&' : '?'}process=same`;
  const program = fileURLToPath(new URL('./own-process-main.js', import.meta.url));
  const target = await openAdapter(
    { file: process.execPath, args: [program, there], shown: url },
    url,
    { process: 'own' },
    options,
  );
  const reach = () => target.adapter.request('reach', {}, (answer) => answer as TargetReach);
  return Object.assign(target, { reach });
}
