/** The example adapter end to end: the same verdicts through `exec:` as through the built-in SQLite target. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runProbe } from '../src/probe/index.js';
import { openTarget } from '../src/targets/index.js';
import { sqliteAvailable } from '../src/targets/sqlite/index.js';

const missing =
  spawnSync('python3', ['-c', 'import sqlite3']).status === 0
    ? sqliteAvailable()
    : 'python3 is not installed';
const skip = missing !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';

async function verdicts(url: string) {
  const target = await openTarget(url);
  try {
    const { levels } = await runProbe(target);
    return levels.map(({ level, contract, contractKnown, results }) => ({
      level,
      contract,
      contractKnown,
      results: results.map(({ case: id, verdict, violation }) => ({ id, verdict, violation })),
    }));
  } finally {
    await target.close();
  }
}

describe.skipIf(skip)(`examples/exec-sqlite${skip ? ` (${missing})` : ''}`, () => {
  it('is probed like the built-in SQLite target', async () => {
    const adapter = await verdicts('exec:python3 examples/exec-sqlite/adapter.py');
    expect(adapter).toEqual(await verdicts('sqlite:'));
    expect(JSON.stringify(adapter)).toContain('PMP');
  });

  it('shows a planted fault like any other target', async () => {
    const violations = (levels: Awaited<ReturnType<typeof verdicts>>) =>
      levels.flatMap(({ results }) => results.flatMap(({ id, violation }) => (violation ? [id] : [])));
    expect(violations(await verdicts('exec:python3 examples/exec-sqlite/adapter.py'))).toEqual([]);
    const faulty = await verdicts('exec:python3 examples/exec-sqlite/adapter.py?fault=weaker-level');
    expect(violations(faulty)).toContain('PMP');
  });
});
