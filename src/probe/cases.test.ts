/**
 * The questions must never call a serial execution an anomaly. Every order of a case's sessions is run one
 * session after the other on the embedded engine, where nothing is concurrent and so nothing can be anomalous.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StatementRef, scheduleProblem, totalOrder } from '../cases/index.js';
import { runScheduled, SessionPool } from '../execute/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';
import { findProbeCases, probeCases } from './cases/index.js';
import { judge } from './judge.js';
import { observer } from './probe-case.js';

let target: Target;
let scratch: Scratch;
let sessions: SessionPool;

beforeAll(async () => {
  target = await openTarget('duckdb:');
  scratch = await target.createScratch();
  sessions = new SessionPool(scratch, { statementTimeoutMs: 10_000, lockTimeoutMs: 2_000 });
});

afterAll(async () => {
  await sessions.close();
  await target.close();
});

describe.each(probeCases.map((probe) => [probe.id, probe] as const))('%s', (_, probe) => {
  it('has a schedule that fits it, and an observer that comes last', () => {
    expect(scheduleProblem(probe.case, probe.schedule)).toBeUndefined();
    const last = probe.schedule.batches.at(-1)![0]![0];
    const watched = probe.case.sessions.some(({ name }) => name === observer);
    if (watched) expect(probe.case.sessions[last]!.name).toBe(observer);
  });

  it('is prevented in every serial order of its sessions', async () => {
    const numbers = probe.case.sessions.map((_, s) => s);
    const last = numbers.filter((s) => probe.case.sessions[s]!.name === observer);
    for (const order of permutations(numbers.filter((s) => !last.includes(s)))) {
      const refs = [...order, ...last].flatMap((s) =>
        probe.case.sessions[s]!.statements.map((_, p): StatementRef => [s, p]),
      );
      const schedule = totalOrder(refs);
      const history = await runScheduled(scratch, { case: probe.case, schedule }, { target, sessions });
      const judgement = judge(probe, history);
      expect(judgement.verdict, `${order}: ${judgement.reason}`).toBe('prevented');
    }
  });
});

function permutations(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item) =>
    permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

describe('findProbeCases', () => {
  it('finds a case by its id and the cases of an anomaly, in any case', () => {
    expect(findProbeCases('WRITE-SKEW').map(({ id }) => id)).toEqual(['write-skew']);
    expect(findProbeCases('lost-update').map(({ id }) => id)).toEqual([
      'lost-update',
      'lost-update-deleted-row',
      'lost-update-by-delete',
    ]);
    expect(findProbeCases('G99')).toEqual([]);
  });

  it('has every case in the documentation', () => {
    const page = readFileSync(new URL('../../docs/stages/probe.md', import.meta.url), 'utf8');
    for (const { id } of probeCases) expect(page).toMatch(new RegExp(`^\\|.*\`${id}\`.*\\|`, 'm'));
  });

  it('gives every case an id of its own', () => {
    expect(new Set(probeCases.map(({ id }) => id)).size).toBe(probeCases.length);
  });
});
