import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { readAnyHistory } from '../histories/index.js';
import { inferSchedule } from './infer.js';

const archive = join(import.meta.dirname, '../../../shared/data/pisco/tidb_42487.tar.xz');

describe.skipIf(!existsSync(archive))(
  'the TiDB #42487 trace (skipped where the Pisco artifact is not at hand)',
  () => {
    it('gets a schedule that keeps all invariants, in fewer batches than operations by far', async () => {
      const read = await readAnyHistory(archive);
      if (read.kind !== 'sql') throw new Error('expected a history of SQL');
      const history = { header: read.header, operations: read.operations };
      const order = inferSchedule(history, findContract('tidb:repeatable-read')!);
      expect(order.broken).toEqual([]);
      expect(order.statementCount).toBe(23_984);
      expect(order.leftOut).toHaveLength(206);
      expect(order.statementCount / order.batchCount).toBeGreaterThan(3.5);
      expect(order.ambiguous.every(({ chosen }) => chosen >= 0)).toBe(true);
    }, 60_000);
  },
);
