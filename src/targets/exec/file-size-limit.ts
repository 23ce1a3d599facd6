/**
 * Lets the writes of another process fail: a limit on the size of its files (RLIMIT_FSIZE). A write that would go beyond it is cut short,
 * the next one fails with EFBIG, and nothing else changes; taken away again, everything works as before. The process must ignore
 * SIGXFSZ, as Node does.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { errorText, IsoldeError } from '../../errors.js';

const program = 'prlimit';

/** Whether limits of another process can be set here: on Linux, with util-linux. */
export function canLimitFileSize(): boolean {
  if (process.platform !== 'linux') return false;
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** Sets the soft limit of a process; undefined takes it away. */
export async function limitFileSize(pid: number, bytes: number | undefined): Promise<void> {
  try {
    await promisify(execFile)(program, ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:`]);
  } catch (thrown) {
    throw new IsoldeError(
      'target',
      `the file sizes of process ${pid} cannot be limited: ${errorText(thrown)}`,
      {
        cause: thrown,
      },
    );
  }
}
