import { expect, it } from 'vitest';
import { keepRunning } from './local-server.js';

/** A server that dies as often as it is told to. */
function mortal(deaths: number) {
  let killed = 0;
  const over = new AbortController();
  const server = {
    port: 20_001,
    hasCrashed: async () => {
      if (killed < deaths) return true;
      over.abort();
      return false;
    },
    kill: async () => {
      killed++;
    },
  };
  const lines: string[] = [];
  const options = { signal: over.signal, log: (line: string) => lines.push(line), lookMs: 1 };
  return { run: () => keepRunning(server, options), lines, restarts: () => killed };
}

it('a server that dies is started again, and said to', async () => {
  const { run, lines, restarts } = mortal(2);
  await run();
  expect(restarts()).toBe(2);
  expect(lines).toEqual([
    'the PostgreSQL of the fleet has died: it is started again',
    'the PostgreSQL runs again on port 20001',
    'the PostgreSQL of the fleet has died: it is started again',
    'the PostgreSQL runs again on port 20001',
  ]);
});

it('one that dies again and again is given up', async () => {
  const { run, restarts } = mortal(100);
  await expect(run()).rejects.toThrow('died 6 times in 10 minutes: it is not started again');
  expect(restarts()).toBe(5);
});

it('a server that cannot be started again ends with the reason', async () => {
  const kill = () => Promise.reject(new Error('no space left on device'));
  const options = { signal: new AbortController().signal, log: () => undefined, lookMs: 1 };
  await expect(keepRunning({ port: 1, hasCrashed: async () => true, kill }, options)).rejects.toThrow(
    'cannot be started: no space left on device',
  );
});
