/** The program of an engine in a process of its own: opens the URL it is given and serves it on standard input and output. */
import { openTarget } from '../registry.js';
import { refuseToServe, serveTarget } from './serve.js';

// Ctrl-C in a terminal reaches every process of the group; the parent decides when this one ends, by closing its input.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// Scratches belong to the parent: it may kill this process and start another one on them.
await openTarget(process.argv[2], { owner: process.ppid }).then(
  (target) => serveTarget(target, process.stdin, process.stdout),
  (error: unknown) => refuseToServe(error, process.stdin, process.stdout),
);
process.exit(0);
