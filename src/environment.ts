/** Where this program runs, in a few words, for reports: maintainers ask for it. */
import { arch, cpus, release, type } from 'node:os';

export function describeEnvironment(): string {
  const processors = cpus().length;
  return `${type()} ${release()} ${arch()}, ${processors === 1 ? 'one processor' : `${processors} processors`}, Node ${process.versions.node}`;
}
