import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { judgedHistory, type Oracle, registerOracle } from '../check/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';
import { withPlanted } from '../targets/planted-target.case.js';
import { type RunPlace, runAndJudge } from './run-and-judge.js';

const scheduled = parseScript(
  'CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nT1: UPDATE t SET a = 2;\nT2: SELECT a FROM t;',
  { file: 'small.sql', dialect: 'duckdb' },
);

/** Sends every statement with a read before it, and runs the sessions one after another to compare. */
const twice: Oracle<{ readonly added: number }> = {
  name: 'twice',
  title: 'reads before statements, and a second execution',
  needs: { run: 'extra-reads', executions: true },
  prepare({ case: program }) {
    const sessions = program.sessions.map(({ name, statements }) => ({
      name,
      statements: statements.flatMap((sql) => ['SELECT count(*) FROM t', sql]),
    }));
    return { program: { case: { ...program, sessions } }, plan: { added: 2 }, observe: ['SELECT * FROM t'] };
  },
  asWritten: ({ header, operations }) => ({
    header: { ...header, sessions: header.sessions.slice(0, 2) },
    operations: operations.filter(({ sql }) => sql !== 'SELECT count(*) FROM t' && sql !== 'SELECT * FROM t'),
  }),
  async judge(history, { added }, { execute, contract }) {
    const alone = await execute!({ case: scheduled.case });
    return judgedHistory(this.asWritten!(history, { added }), {
      oracle: 'twice',
      contract: contract.id,
      findings: [],
      notes: [`${history.operations.length} operations, ${added} added, ${alone.operations.length} again`],
    });
  },
};

describe('runAndJudge', () => {
  let target: Target;
  let scratch: Scratch;
  let remove: () => void;
  beforeAll(async () => {
    remove = registerOracle(twice);
    target = await openTarget('duckdb:');
    scratch = await target.createScratch();
  });
  afterAll(async () => {
    remove();
    await target.close();
  });
  const place = (more: Partial<RunPlace> = {}): RunPlace => ({ target, scratch, ...more });

  it('sends what the oracle prepared, lets it execute again, and tells the history as it was written', async () => {
    const { history, notes, valid } = await runAndJudge({ ...scheduled, oracle: 'twice' }, place());
    expect(valid).toBe(true);
    expect(notes).toEqual(['6 operations, 2 added, 2 again']);
    // The two sessions run freely, in whichever order the engine answers.
    expect(history.operations.map(({ sql }) => sql).sort()).toEqual([
      'SELECT a FROM t',
      'UPDATE t SET a = 2',
    ]);
    expect(history.header.sessions).toEqual(['T1', 'T2']);
  });

  it('holds a run to what the vendor promises at its level unless told otherwise', async () => {
    const { contract } = await runAndJudge({ ...scheduled, oracle: 'mechanism' }, place());
    expect(contract).toBe('duckdb:snapshot');
  });

  it('refuses an oracle that cannot judge by the contract, or judges no runs', async () => {
    await expect(runAndJudge({ ...scheduled, oracle: 'key-value' }, place())).rejects.toThrow(
      'the oracle key-value cannot judge: it judges recorded key-value histories, not runs',
    );
    await expect(runAndJudge({ ...scheduled, oracle: 'tarot' }, place())).rejects.toThrow(
      'there is no oracle',
    );
  });

  it.each([
    ['out of memory', { class: 'out-of-memory', message: 'no memory left' } as const, 0, ['out-of-memory']],
    ['in need of 300 MiB', undefined, 300, ['memory-growth']],
    ['in need of 200 MiB', undefined, 200, []],
  ])('a server %s', async (_, error, mebibytes, kinds) => {
    let asked = 0;
    const hungry = withPlanted(
      Object.assign(Object.create(target) as Target, {
        memoryBytes: () => 2 ** 30 + asked++ * mebibytes * 2 ** 20,
      }),
      {
        execute: async (sql, send) =>
          sql.startsWith('SELECT') && error !== undefined ? { error, transaction: 'none' } : send(sql),
      },
    );
    const own = await hungry.createScratch();
    const { findings } = await runAndJudge(
      { ...scheduled, oracle: 'mechanism' },
      { target: hungry, scratch: own },
    );
    expect(findings.map(({ kind }) => kind)).toEqual(kinds);
  });

  it('says that a run was cut short instead of judging it', async () => {
    const judged = await runAndJudge(
      { ...scheduled, oracle: 'mechanism' },
      place({ signal: AbortSignal.abort() }),
    );
    expect(judged).toMatchObject({
      valid: 'unknown',
      unknownReasons: ['the run was cut short'],
      findings: [],
    });
  });
});
