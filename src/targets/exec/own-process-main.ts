/** The program of an engine in a process of its own: opens the URL it is given and serves it on standard input and output. */
import { openTarget } from '../registry.js';
import { serveTarget } from './serve.js';

// Ctrl-C in a terminal reaches every process of the group; the parent decides when this one ends, by closing its input.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
await serveTarget(await openTarget(process.argv[2]), process.stdin, process.stdout);
process.exit(0);
