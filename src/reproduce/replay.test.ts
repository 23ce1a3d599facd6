import { describe, expect, it } from 'vitest';
import type { Case } from '../cases/index.js';
import { findContract } from '../contracts/index.js';
import { runFree } from '../execute/index.js';
import { openTarget } from '../targets/index.js';
import { inferSchedule } from './infer.js';
import { replay } from './replay.js';

describe('replay', () => {
  it('tells for each operation whether it saw what the raw run saw, and where the runs diverge', async () => {
    const target = await openTarget('duckdb:');
    try {
      const scratch = await target.createScratch();
      const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'];
      const read = 'SELECT id, v FROM t WHERE id = 1';
      const sessions = [
        { name: 'A', statements: ['UPDATE t SET v = 11 WHERE id = 1'] },
        { name: 'B', statements: [read] },
      ];
      const program: Case = { name: 'two', setup, sessions };
      const raw = await runFree(scratch, program, { target });
      const inferred = inferSchedule(raw, findContract('duckdb:snapshot')!);
      const faithful = await replay(scratch, inferred, 'batch', { target });
      expect(faithful).toMatchObject({ compared: 2, same: 2, differences: [] });
      const forged = raw.operations.map((op) => (op.kind === 'select' ? { ...op, rows: [[1, 99]] } : op));
      const lie = { ...inferred, raw: { ...raw, operations: forged } };
      const report = await replay(scratch, lie, 'sequential', { target });
      expect(report).toMatchObject({
        compared: 2,
        same: 1,
        firstDifference: { session: 'B', sql: read, kind: 'rows', was: '(1, 99)' },
      });
    } finally {
      await target.close();
    }
  });
});
