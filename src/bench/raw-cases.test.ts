import { describe, expect, it } from 'vitest';
import { runAndJudge } from '../judge/index.js';
import { contractOf, DatabaseOracle, rawFinding, reduceFinding } from '../reduce/index.js';
import { openTarget } from '../targets/index.js';
import { rawCase } from './raw-cases.js';

describe('a fault planted in DuckDB, from a free run of six sessions to the minimal case', () => {
  it.each([
    'commit-on-rollback',
    'late-snapshot',
    'lost-update',
    'missed-own-write',
    'partial-commit',
    'lost-insert',
  ])('%s', async (fault) => {
    const oracle = await DatabaseOracle.open({ open: () => openTarget(`duckdb:?fault=${fault}`) });
    try {
      const { target } = oracle;
      const runOnce = async (seed: number) => {
        const program = rawCase({
          ...{ name: fault, dialect: target.dialect, level: target.defaultLevel, operations: 400, seed },
          ...{ sessions: 6, rows: 16, values: 1000, deletes: 0, primaryKey: false },
          inserts: fault === 'lost-insert' ? 30 : 0,
        });
        const scratch = await target.createScratch();
        const { history, findings } = await runAndJudge(
          { case: program, oracle: 'mechanism' },
          { target, scratch },
        );
        await scratch.drop();
        return rawFinding(history, contractOf(history, target), findings);
      };
      // What a free run shows, and whether its order can be inferred from the answers, is up to its timing.
      let outcome: Awaited<ReturnType<typeof reduceFinding>> | undefined;
      for (let seed = 1; outcome?.kind !== 'reduced' && seed <= 10; seed++) {
        const raw = await runOnce(seed);
        if (raw !== undefined)
          outcome = await reduceFinding(raw.candidate, { oracle, seen: raw, confirmRuns: 20 });
      }
      if (outcome?.kind !== 'reduced') throw new Error(outcome?.kind ?? 'no finding');
      const { result } = outcome;
      expect(result).toMatchObject({ minimal: true, sameFinding: true, confirmed: { shown: 20, runs: 20 } });
      expect(result.operations).toBeLessThanOrEqual(10);
      expect(result.transactions).toBeLessThanOrEqual(3);
    } finally {
      await oracle.close();
    }
  });
});
