/** Says on standard error how far work on a large file has come; small files are worked on without a word. */
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

const quietMs = 1000;

/** Names the stage of a check that takes longer than a second, at most once a second. */
export function stageProgress(file: string, context: CliContext): (stage: string) => void {
  let last = performance.now();
  return (stage) => {
    if (performance.now() - last < quietMs) return;
    last = performance.now();
    context.err(`${file}: ${stage}`);
  };
}
