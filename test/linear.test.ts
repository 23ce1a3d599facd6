/** Files people and strangers write are read and checked in time that grows with their size, not with its square. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCaseFile, parseScript, printCaseFile, printScript } from '../src/cases/index.js';
import { verifyMechanism } from '../src/check/index.js';
import { findContract } from '../src/contracts/index.js';
import { parseHeader } from '../src/histories/history-header.js';
import type { History, Operation } from '../src/histories/index.js';
import { probeCases } from '../src/probe/index.js';
import { findBug } from '../src/report/found-bug.case.js';
import { openStore } from '../src/store/index.js';
import { openTarget } from '../src/targets/index.js';

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

/** One statement after the other on `count / 5` rows: an update of one row, then a read of another. */
function manyRows(count: number): History {
  const rows = count / 5;
  const values = Array.from({ length: rows }, (_, id) => `(${id}, 0)`);
  const setup = [
    'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
    ...Array.from({ length: Math.ceil(rows / 500) }, (_, i) => {
      const some = values.slice(500 * i, 500 * (i + 1));
      return `INSERT INTO t (id, v) VALUES ${some.join(', ')}`;
    }),
  ];
  const now = new Int32Array(rows);
  const operations = Array.from({ length: count }, (_, i): Operation => {
    const id = (i * 7919) % rows;
    const base = { index: i, session: i % 4, transaction: i };
    const times = { start: 10 * i, end: 10 * i + 5, outcome: 'ok', ends: 'commit' } as const;
    if (i % 2 === 1) {
      const sql = `SELECT id, v FROM t WHERE id = ${id}`;
      return { ...base, ...times, kind: 'select', sql, columns: ['id', 'v'], rows: [[id, now[id]!]] };
    }
    now[id] = i;
    return { ...base, ...times, kind: 'update', sql: `UPDATE t SET v = ${i} WHERE id = ${id}`, matched: 1 };
  });
  const header = { sessions: names(4), level: 'snapshot', dialect: 'duckdb', setup } as const;
  return { header, operations };
}

/** Processor time, so that other work on the machine does not count. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('checking', () => {
  it('many operations on many rows', () => {
    const contract = findContract('duckdb:snapshot')!;
    const verify = (history: History) => () => {
      const { findings } = verifyMechanism(history, contract);
      expect(findings).toEqual([]);
    };
    const small = verify(manyRows(1_000));
    small();
    const once = Math.min(...[1, 2, 3].map(() => cpuMs(small)));
    expect(cpuMs(verify(manyRows(16_000)))).toBeLessThan(64 * Math.max(once, 2));
  });
});

describe('a store', () => {
  it('of many bugs takes in the first one of a hunt', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'isolde-linear-'));
    const target = await openTarget('duckdb:?fault=missed-own-write');
    const scheduled = probeCases.find(({ id }) => id === 'own-write')!;
    const bug = await findBug({ target, scratch: await target.createScratch(), scheduled });
    await target.close();
    const kept = await openStore(join(folder, 'kept'));
    await kept.add(bug);
    const record = readFileSync(join(kept.folderOf(bug.id), 'bug.json'));
    /** Seconds of processor time for the first bug into a store that holds so many others. */
    const adding = async (count: number): Promise<number> => {
      const store = await openStore(join(folder, `of-${count}`));
      for (let i = 0; i < count; i++) {
        mkdirSync(store.folderOf(`duckdb-other-${i}`), { recursive: true });
        writeFileSync(join(store.folderOf(`duckdb-other-${i}`), 'bug.json'), record);
      }
      const before = process.cpuUsage();
      expect((await store.add(bug)).isNew).toBe(true);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    try {
      await adding(1);
      const once = Math.min(await adding(100), await adding(101), await adding(102));
      expect(await adding(1_600)).toBeLessThan(64 * Math.max(once, 2));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('reading', () => {
  it.each(inputs)('%s', (_, make) => {
    const small = make(1_000);
    small();
    const once = Math.min(...[1, 2, 3].map(() => cpuMs(small)));
    // Sixteen times the size: linear work takes 16 times as long, quadratic work 256 times.
    expect(cpuMs(make(16_000))).toBeLessThan(64 * Math.max(once, 2));
  });
});
