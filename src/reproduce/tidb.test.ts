import { existsSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { type History, readAnyHistory } from '../histories/index.js';
import { inferSchedule } from './infer.js';

const archive = join(import.meta.dirname, '../../../shared/data/pisco/tidb_42487.tar.xz');

describe.skipIf(!existsSync(archive))('the TiDB #42487 trace of the Pisco artifact (skipped where it is not at hand)', () => {
  let history: History;
  beforeAll(async () => {
    const read = await readAnyHistory(archive);
    if (read.kind !== 'sql') throw new Error('expected SQL');
    history = { header: read.header, operations: read.operations };
  }, 60_000);

  it('gets a schedule that keeps all invariants', () => {
    const started = performance.now();
    const order = inferSchedule(history, findContract('tidb:repeatable-read')!);
    const seconds = (performance.now() - started) / 1000;
    console.log(order.statementCount, order.batchCount, order.largestBatch, seconds, order.notes, order.broken.slice(0, 5), order.unexplained.slice(0, 20), order.schedule.reasons?.length);
    expect(order.broken).toEqual([]);
  });
});
