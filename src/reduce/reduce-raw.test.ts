import { expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { rawFinding } from './from-history.js';
import { findingsOf, rawRun, replayed } from './learnt-order.case.js';
import { reduceFinding, reduceRaw } from './reduce-finding.js';
import type { FindingOracle } from './trial.js';

it('a raw finding that the inferred order does not bring back is reduced in an order learnt from replays', async () => {
  const observe: FindingOracle['observe'] = (candidate) => {
    const history = replayed(candidate);
    return Promise.resolve({ history, findings: findingsOf(history) });
  };
  const oracle: FindingOracle = {
    lanes: 1,
    subject: { name: 'postgres 18', dialect: 'postgres', levels: ['serializable'] },
    observe,
    identity: ({ kind }) => kind,
    lookFor: () => undefined,
    run: async (candidate) => {
      const { history, findings } = await observe(candidate);
      const [finding] = findings;
      return finding === undefined ? { verdict: 'none', history } : { verdict: 'same', finding, history };
    },
  };
  const raw = rawFinding(rawRun, findContract('postgres:serializable')!, findingsOf(rawRun))!;
  expect((await reduceFinding(raw.candidate, { oracle, seen: raw })).kind).toBe('not-reproduced');
  const outcome = await reduceRaw(raw, { oracle });
  if (outcome.kind !== 'reduced') throw new Error(outcome.kind);
  expect(outcome.result).toMatchObject({ minimal: true, sameFinding: true });
  const statements = outcome.result.result.case.sessions.flatMap((session) => session.statements);
  expect(statements).toContain('ROLLBACK');
  expect(statements.length).toBeLessThan(6);
});
