import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { type Oracle, registerOracle } from '../check/index.js';
import { IsoldeError } from '../errors.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';
import { runAndJudge } from './run-and-judge.js';

let target: Target;
let scratch: Scratch;
beforeAll(async () => {
  target = await openTarget('duckdb:');
  scratch = await target.createScratch();
});
afterAll(async () => target.close());

const place = () => ({ target, scratch });

const deleted = parseScript(
  `-- isolde script
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10);
T2: BEGIN
T2: SELECT * FROM t
T1: DELETE FROM t WHERE id = 1
T2: UPDATE t SET v = 55 WHERE id = 1
T2: COMMIT
`,
  { file: 'case.sql', dialect: 'duckdb' },
);

const quiet = parseScript(
  `-- isolde script
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10);
T1: UPDATE t SET v = 11 WHERE id = 1
T2: SELECT * FROM t
`,
  { file: 'case.sql', dialect: 'duckdb' },
);

/** An oracle that remembers what it was asked. */
function remembering(asked: string[]): Oracle<string> {
  return {
    name: 'remembering',
    title: 'remembers',
    needs: { run: 'plain', executions: true },
    refuses: ({ owner }) => (owner === 'ansi' ? 'it does not know the standard' : undefined),
    prepare: (program) => {
      asked.push('prepare');
      return { program, plan: 'the plan' };
    },
    judge: async (history, plan, { contract, execute }) => {
      const again = await execute!(quiet);
      asked.push(plan, contract.id, `${history.operations.length} and ${again.operations.length} operations`);
      const none = { findings: [], beyond: [], strongest: [], unknownReasons: [], skipped: [], notes: [] };
      return { valid: true, oracle: 'remembering', ...none, history };
    },
    identity: () => '',
    focus: (finding) => finding,
  };
}

describe('runAndJudge', () => {
  it('holds a run to what the vendor promises unless told otherwise', async () => {
    const judged = await runAndJudge({ ...deleted, oracle: 'mechanism' }, place());
    expect(judged).toMatchObject({ valid: false, contract: 'duckdb:snapshot' });
    expect(judged.findings[0]!.kind).toBe('update-of-changed-row');
    expect(judged.history.operations.map(({ kind }) => kind)).toEqual([
      'begin',
      'select',
      'delete',
      'update',
      'commit',
    ]);
  });

  it('finds nothing where nothing is wrong, by every oracle that runs cases', async () => {
    for (const oracle of ['mechanism', 'dependency-graph']) {
      const { valid, findings } = await runAndJudge({ ...quiet, oracle }, place());
      expect({ valid, findings }).toEqual({ valid: true, findings: [] });
    }
  });

  it('prepares, runs and judges with the plan, and lets an oracle execute more', async () => {
    const asked: string[] = [];
    const remove = registerOracle(remembering(asked));
    try {
      await runAndJudge({ ...deleted, oracle: 'remembering' }, place());
    } finally {
      remove();
    }
    expect(asked).toEqual(['prepare', 'the plan', 'duckdb:snapshot', '5 and 2 operations']);
  });

  it('refuses a contract that the oracle cannot judge by, before anything runs', async () => {
    const asked: string[] = [];
    const remove = registerOracle(remembering(asked));
    const { findContract } = await import('../contracts/index.js');
    const contract = findContract('ansi:serializable')!;
    try {
      const refused = runAndJudge({ ...quiet, oracle: 'remembering', contract }, place());
      await expect(refused).rejects.toThrow(/cannot judge: it does not know the standard/);
    } finally {
      remove();
    }
    expect(asked).toEqual([]);
  });

  it('says which oracles there are when asked for another', async () => {
    const unknown = runAndJudge({ ...quiet, oracle: 'guess' }, place());
    await expect(unknown).rejects.toThrow(IsoldeError);
    await expect(unknown).rejects.toThrow(/there is no oracle "guess"; there are server, mechanism/);
  });

  it('calls a run that was cut short undecided', async () => {
    const controller = new AbortController();
    controller.abort();
    const judged = await runAndJudge(
      { ...deleted, oracle: 'mechanism' },
      { ...place(), signal: controller.signal },
    );
    expect(judged).toMatchObject({ valid: 'unknown', unknownReasons: ['the run was cut short'] });
  });
});
