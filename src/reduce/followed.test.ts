import { describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import type { Finding, FindingKind } from '../check/index.js';
import type { History, Operation } from '../histories/index.js';
import { classifyStatement } from '../sql/index.js';
import { type Candidate, candidateOf } from './candidate.js';
import { modelOf } from './case-model.js';
import { followedFinding } from './followed.js';
import { sqlAccesses } from './sql-accesses.js';
import { surroundingsOf } from './surroundings.js';

const whole = candidateOf(
  parseScript(
    `CREATE TABLE t (id INT PRIMARY KEY, v INT);
     C: UPDATE t SET v = 7 WHERE id = 2;
     A: UPDATE t SET v = 1 WHERE id = 1;
     B: DELETE FROM t WHERE id = 1;
     A: SELECT * FROM t WHERE id = 1;`,
    { file: 'test.sql' },
  ),
);

/** A run that needs no database: every statement succeeds. */
function runOf({ case: program, schedule }: Candidate): History {
  const operations = schedule.batches.flat().map(([session, position], index): Operation => {
    const sql = program.sessions[session]!.statements[position]!;
    const { kind } = classifyStatement(sql);
    return {
      ...{ index, session, transaction: index, kind, sql, start: 2 * index, end: 2 * index + 1 },
      ...{ outcome: 'ok', statement: [session, position] },
    };
  });
  return { header: { sessions: program.sessions.map(({ name }) => name) }, operations };
}

/** A finding about the operations with these texts; none if one of them did not run. */
function findingAbout(kind: FindingKind, history: History, ...texts: readonly string[]): Finding[] {
  const named = texts.map((text) => history.operations.find(({ sql }) => sql!.startsWith(text)));
  if (named.includes(undefined)) return [];
  const operations = named.map((op) => ({ index: op!.index, transaction: op!.transaction, text: op!.sql! }));
  const proved = { oracle: 'mechanism', certainty: 'proved' } as const;
  return [{ kind, ...proved, rulesOut: [], transactions: [], operations, explanation: [] }];
}

function followed(judge: (history: History) => Finding[]) {
  const history = runOf(whole);
  const [finding] = findingAbout('missing-row', history, 'SELECT', 'DELETE');
  const model = modelOf(whole);
  const witness = [2, 3];
  const around = surroundingsOf(model, witness, (of) => sqlAccesses(of, 'postgres', history));
  const observed: number[] = [];
  const oracle = {
    observe: async (candidate: Candidate) => {
      const run = runOf(candidate);
      observed.push(run.operations.length);
      return { history: run, findings: judge(run) };
    },
    identity: ({ kind }: Finding) => kind,
  };
  return followedFinding({ finding: finding!, history }, around, oracle).then(({ identity }) => ({
    identity,
    observed,
  }));
}

describe('the finding to follow', () => {
  it('is the one that was seen where few operations show it', async () => {
    const judge = (run: History) => findingAbout('missing-row', run, 'SELECT', 'DELETE');
    expect(await followed(judge)).toEqual({ identity: 'missing-row', observed: [2] });
  });

  it('is what the same write shows in order, where they show only that', async () => {
    const judge = (run: History) => findingAbout('update-of-changed-row', run, 'DELETE');
    expect((await followed(judge)).identity).toBe('update-of-changed-row');
  });

  it('is the one that was seen if a larger set shows it, whatever a smaller one shows', async () => {
    const judge = (run: History) => [
      ...findingAbout('update-of-changed-row', run, 'DELETE'),
      ...findingAbout('missing-row', run, 'UPDATE t SET v = 1', 'DELETE', 'SELECT'),
    ];
    expect(await followed(judge)).toEqual({ identity: 'missing-row', observed: [2, 3] });
  });

  it('is not one about another write', async () => {
    const judge = (run: History) => findingAbout('lock-violated', run, 'UPDATE t SET v = 1');
    expect((await followed(judge)).identity).toBe('missing-row');
  });
});
