import { afterEach, beforeEach, expect, it } from 'vitest';
import { processContext } from './context.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const listening = (): number[] => signals.map((signal) => process.listenerCount(signal));
const streams = [process.stdout, process.stderr];
let others: readonly (readonly [NodeJS.EventEmitter, string, readonly unknown[]])[];

beforeEach(() => {
  const places: (readonly [NodeJS.EventEmitter, string])[] = [
    ...signals.map((signal) => [process as NodeJS.EventEmitter, signal] as const),
    ...streams.map((each) => [each as NodeJS.EventEmitter, 'error'] as const),
  ];
  others = places.map(([emitter, name]) => [emitter, name, emitter.listeners(name)]);
});

afterEach(() => {
  for (const [emitter, name, before] of others)
    for (const each of emitter.listeners(name))
      if (!before.includes(each)) emitter.removeListener(name, each as () => void);
});

it('listens for what asks it to stop, but during work that cannot look', () => {
  const before = listening();
  const { atOnce } = processContext();
  const heard = before.map((count) => count + 1);
  expect(listening()).toEqual(heard);
  expect(atOnce!(() => listening())).toEqual(before);
  expect(listening()).toEqual(heard);
  expect(() =>
    atOnce!(() => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(listening()).toEqual(heard);
});
