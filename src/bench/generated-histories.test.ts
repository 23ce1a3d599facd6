/**
 * The kinds of histories that others publish verdicts on, generated in our own words: valid ones of a snapshot store and of a serializable
 * one, an auction site, random reads and writes, each in every order a log may have and in the notations of Plume, AWDIT and dbcop; and the
 * same with one violation in them. Every verdict must be right and proved.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckLevel, checkKv, verifyCertificate } from '../check/index.js';
import { type KvHistory, readAnyHistory } from '../histories/index.js';
import {
  auctionProgram,
  awditText,
  dbcopText,
  historyOf,
  type LoggedTransaction,
  type LogOrder,
  plumeLines,
  randomProgram,
  runStore,
  type StoreShape,
} from './concurrent-store.js';
import { plantedAnomalies, plantIn } from './planted.js';

/** The verdict, once its proof was accepted. */
function proved(history: KvHistory, level: CheckLevel) {
  const result = checkKv(history, { level, strongest: false, certificate: true });
  const { valid, certificate } = result;
  expect([level, valid === 'unknown' ? result.unknownReasons : []]).toEqual([level, []]);
  expect(verifyCertificate(history, certificate!)).toEqual({ accepted: true });
  expect(certificate!.valid).toBe(valid);
  return result;
}

const orders: readonly LogOrder[] = ['as begun', 'session after session', 'shuffled'];
const programs = {
  'random reads and writes': () => randomProgram(200, 6),
  'an auction site': () => auctionProgram(100, 60),
} as const;
type ProgramName = keyof typeof programs;
const names = Object.keys(programs) as ProgramName[];

function logOf(name: ProgramName, shape: Omit<StoreShape, 'program' | 'sessions'>): LoggedTransaction[] {
  return runStore({ program: programs[name](), sessions: 12, ...shape });
}

describe('a valid history', () => {
  it.each(orders)('of 5,000 transactions under snapshot isolation keeps it, %s (seed 1)', (order) => {
    const log = runStore({
      ...{ promise: 'snapshot', order, seed: 1 },
      ...{ program: randomProgram(1_000, 8), sessions: 20, txCount: 5_000 },
    });
    expect(proved(historyOf(log), 'snapshot').valid).toBe(true);
  });

  for (const name of names) {
    it.each(orders)(`of ${name} keeps what its store promises, %s (seeds 2, 3)`, (order) => {
      const snapshot = historyOf(logOf(name, { promise: 'snapshot', order, txCount: 600, seed: 2 }));
      for (const level of ['read committed', 'read atomic', 'causal', 'prefix', 'snapshot'] as const)
        expect([level, proved(snapshot, level).valid]).toEqual([level, true]);
      // Transactions really overlap, or the store would promise more than it says.
      const broken = proved(snapshot, 'serializable');
      expect(broken.valid).toBe(false);
      expect(broken.findings.map(({ kind }) => kind.replace(/-session$/, ''))).toEqual(
        broken.findings.map(() => expect.stringMatching(/^(write-skew|G2-item)$/)),
      );
      const serializable = historyOf(logOf(name, { promise: 'serializable', order, txCount: 600, seed: 3 }));
      expect(proved(serializable, 'serializable').valid).toBe(true);
    });
  }

  it('has the same verdicts in the notations of Plume, AWDIT and dbcop (seed 4)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'isolde-notations-'));
    try {
      for (const name of names) {
        const log = logOf(name, { promise: 'snapshot', txCount: 300, seed: 4 });
        const texts = {
          'a.txt': [...plumeLines(log)].join(''),
          'b.awdit': awditText(log),
          'c.json': dbcopText(log),
        };
        for (const [file, text] of Object.entries(texts)) {
          await writeFile(join(folder, file), text);
          const read = await readAnyHistory(join(folder, file));
          if (read.kind !== 'kv') throw new Error(read.kind);
          expect([file, read.history.txCount, read.history.opCount]).toEqual([
            file,
            log.length,
            log.reduce((sum, { ops }) => sum + ops.length, 0),
          ]);
          expect([file, proved(read.history, 'snapshot').valid]).toEqual([file, true]);
          expect([file, proved(read.history, 'serializable').valid]).toEqual([file, false]);
        }
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('a violation in a valid history', () => {
  for (const name of names) {
    it.each(plantedAnomalies)(`of ${name} is found, named and proved: $name (seed 5)`, (anomaly) => {
      // Where snapshot isolation allows it, the rest must be better than that.
      const promise = anomaly.level === 'serializable' ? 'serializable' : 'snapshot';
      const order = orders[plantedAnomalies.indexOf(anomaly) % orders.length]!;
      const log = logOf(name, { promise, order, txCount: 600, seed: 5 });
      const history = plantIn(log, anomaly);
      const options = { definitions: 'adya', strongest: false, certificate: true } as const;
      const { valid, findings, certificate } = checkKv(history, { ...options, level: anomaly.level });
      expect(valid).toBe(false);
      expect([...new Set(findings.map(({ kind }) => kind))]).toEqual([anomaly.kind]);
      expect(verifyCertificate(history, certificate!)).toEqual({ accepted: true });
      expect(certificate!.valid === false && certificate!.transactions.length).toBeLessThanOrEqual(6);
      const below = checkKv(history, { ...options, level: anomaly.below });
      expect(below.valid).toBe(true);
      expect(verifyCertificate(history, below.certificate!)).toEqual({ accepted: true });
    });
  }
});
