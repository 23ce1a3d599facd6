/** Says on standard error how far the reading of a large file has come; small files are read without a word. */
import type { CliContext } from './context.js';

const stepBytes = 64 * 1024 * 1024;

export function readingProgress(file: string, context: CliContext): (bytes: number) => void {
  let next = stepBytes;
  return (bytes) => {
    if (bytes < next) return;
    next = bytes + stepBytes;
    context.err(`${file}: ${Math.floor(bytes / 1024 ** 2)} MB read`);
  };
}
