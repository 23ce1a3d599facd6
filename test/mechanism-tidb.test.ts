/**
 * The raw trace of TiDB #42487 that Pisco published: 13 sessions, 3,900 transactions, 23,984 operations. A no-op update is
 * not seen by the transaction that made it. Pisco's verifier reports three wrong rows; the three rows that are missing
 * for the same reason are found by evaluating the reads' conditions.
 */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verifyMechanism } from '../src/check/mechanism/index.js';
import { findContract } from '../src/contracts/index.js';
import { type History, readAnyHistory } from '../src/histories/index.js';

const trace = process.env.ISOLDE_PISCO_TRACE ?? '../shared/data/pisco/tidb_42487.tar.xz';

async function readTrace(): Promise<History> {
  const read = await readAnyHistory(trace);
  if (read.kind !== 'sql') throw new Error('the trace is not of SQL');
  return read;
}

describe.skipIf(!existsSync(trace))(`the trace of TiDB #42487 (${trace})`, () => {
  it('shows six own writes missed, no other violation, and leaves nothing unjudged', async () => {
    const history = await readTrace();
    const before = process.cpuUsage();
    const result = verifyMechanism(history, findContract('tidb:repeatable-read')!, {});
    const seconds = process.cpuUsage(before).user / 1e6;
    expect(
      result.findings.map(({ kind, operations, versions }) => [
        kind,
        operations[0]!.index,
        versions![0]!.object,
        versions![0]!.seen.as === 'absent',
      ]),
    ).toEqual([
      ['own-write-missed', 1203, 'table0/7', false],
      ['own-write-missed', 6383, 'table0/1', true],
      ['own-write-missed', 6391, 'table0/1', false],
      ['own-write-missed', 14217, 'table0/7', true],
      ['own-write-missed', 14306, 'table0/0', true],
      ['own-write-missed', 21077, 'table0/1', false],
    ]);
    expect(result.skipped).toEqual([]);
    expect(result.checked).toMatchObject({ reads: 12_092, rows: 41_384, writes: 4_092 });
    expect(result.checked.peakVersions).toBeLessThan(400);
    // About 1 s on an idle core; the bound only excludes that time grows faster than the trace.
    expect(seconds).toBeLessThan(15);
  });

  it('would be accused hundreds of times under another snapshot rule', async () => {
    const history = await readTrace();
    const { comparison } = verifyMechanism(history, findContract('tidb:repeatable-read')!, {
      compareWith: findContract('mariadb:repeatable-read')!,
    });
    expect(comparison!.vanish).toEqual([]);
    expect(comparison!.appear.length).toBeGreaterThan(300);
    expect(new Set(comparison!.appear.map(({ clause }) => clause))).toEqual(new Set(['pivot first-read']));
  });
});
