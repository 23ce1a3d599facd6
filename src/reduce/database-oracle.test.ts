import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { parseScript, printScript } from '../cases/index.js';
import { openTarget } from '../targets/index.js';
import { DatabaseOracle, type DatabaseOracleOptions } from './database-oracle.js';
import { dressed } from './dress.case.js';
import { mechanismJudge } from './judge.js';
import { reduceFinding } from './reduce-finding.js';
import { type StrategyName, strategies } from './strategies/index.js';

let oracle: DatabaseOracle | undefined;
afterEach(() => oracle?.close());

async function open(url: string, more: Partial<DatabaseOracleOptions> = {}): Promise<DatabaseOracle> {
  oracle = await DatabaseOracle.open({ open: () => openTarget(url), judge: mechanismJudge(), ...more });
  return oracle;
}

const duckdb17223 = async () =>
  parseScript(await readFile('examples/scripts/duckdb-17223.sql', 'utf8'), {
    file: 'duckdb-17223.sql',
    dialect: 'duckdb',
  });

describe('DuckDB #17223 dressed with 200 irrelevant statements', () => {
  it.each(Object.keys(strategies) as StrategyName[])('is found again by %s', async (strategy) => {
    const start = dressed(await duckdb17223(), { operations: 200, sessions: 3 });
    const outcome = await reduceFinding(start, { oracle: await open('duckdb:'), strategy, confirmRuns: 5 });
    if (outcome.kind !== 'reduced') throw new Error(outcome.kind);
    const { result } = outcome;
    console.log(
      strategy,
      result.counts,
      result.seconds,
      result.afterStrategy,
      result.removalsTried,
      result.finding?.explanation,
    );
    console.log(printScript(result.result));
    expect(result).toMatchObject({ minimal: true, sameFinding: true, confirmed: { shown: 5, runs: 5 } });
    expect(result.operations).toBeLessThanOrEqual(6);
  });
});
