/** Files people and strangers write are read in time that grows with their size, not with its square. */
import { describe, expect, it } from 'vitest';
import { parseCaseFile, parseScript, printCaseFile, printScript } from '../src/cases/index.js';
import { parseHeader } from '../src/histories/history-header.js';

const times = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const script = (text: string) => parseScript(text, { file: 'x.sql' });
const names = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`);

const inputs: readonly (readonly [string, (count: number) => () => unknown])[] = [
  ['a script of many lines', (n) => () => script(times(n, (i) => `T${i % 4}: UPDATE t SET a = ${i};`))],
  ['a script of many sessions', (n) => () => script(times(n, (i) => `T${i}: UPDATE t SET a = ${i};`))],
  [
    'a script of many delimiters',
    (n) => () =>
      script(`-- isolde script\n${times(n, (i) => `DELIMITER //\nT1: SELECT ${i}//\nDELIMITER ;`)}`),
  ],
  [
    'a script whose head names many sessions',
    (n) => () => script(`-- isolde script\n-- sessions: ${names(n).join(', ')}\n`),
  ],
  [
    'a report of many lines',
    (n) => () => script(`mysql> SELECT 1;\n${times(n, (i) => `T1> UPDATE t SET a = ${i};`)}`),
  ],
  [
    'a case file of many sessions and statements',
    (n) => {
      const scheduled = script(times(n, (i) => `T${i}: UPDATE t SET a = ${i};`));
      return () => parseCaseFile(printCaseFile(scheduled), 'x.case.json');
    },
  ],
  [
    'a script, printed',
    (n) => {
      const scheduled = script(times(n, (i) => `T${i % 4}: UPDATE t SET a = ${i};`));
      return () => printScript(scheduled);
    },
  ],
  [
    'a history whose header names many sessions',
    (n) => {
      const line = JSON.stringify({ format: 'isolde-history', version: 1, sessions: names(n) });
      return () => parseHeader(line, 'x.history.jsonl');
    },
  ],
];

/** Processor time, so that other work on the machine does not count. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('reading', () => {
  it.each(inputs)('%s', (_, make) => {
    const small = make(1_000);
    small();
    const once = Math.min(...[1, 2, 3].map(() => cpuMs(small)));
    // Sixteen times the size: linear work takes 16 times as long, quadratic work 256 times.
    expect(cpuMs(make(16_000))).toBeLessThan(64 * Math.max(once, 2));
  });
});
