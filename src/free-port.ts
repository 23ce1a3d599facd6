/** Ports for servers of ours on 127.0.0.1. */
import { createServer, type Server } from 'node:net';
import { IsoldeError } from './errors.js';

const host = '127.0.0.1';
const [lowest, range] = [20_000, 12_000];

/** Below the ephemeral range: a client that polls an ephemeral port can end up connected to itself. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = somePort();
    const probe = createServer();
    const free = await listens(probe, port);
    if (free !== undefined) continue;
    await new Promise<void>((resolve) => probe.close(() => resolve()));
    return port;
  }
  throw noneFree();
}

/** Makes a server listen on the port asked for, or on a free one, and returns it. */
export async function listenBelow(server: Server, asked?: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = asked ?? somePort();
    const problem = await listens(server, port);
    if (problem === undefined) return port;
    if (asked !== undefined)
      throw new IsoldeError('connect', `cannot listen on ${host}:${port}: ${problem.message}`);
  }
  throw noneFree();
}

const somePort = (): number => lowest + Math.floor(Math.random() * range);
const noneFree = (): IsoldeError =>
  new IsoldeError('target', `Found no free port between ${lowest} and ${lowest + range}`);

function listens(server: Server, port: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', resolve);
      resolve(undefined);
    });
  });
}
