import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScript, scheduleProblem } from '../../cases/index.js';
import { openTarget } from '../../targets/index.js';
import { type Candidate, candidateOf, contentKey } from '../candidate.js';
import { DatabaseOracle } from '../database-oracle.js';
import { chooseFinding } from '../seen-finding.js';
import {
  describeTrial,
  editableCase,
  editLine,
  effectiveCase,
  mergeTransactions,
  moveLine,
  ShrinkSession,
  switchLines,
} from './index.js';

const text = `-- name: six statements
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T2: BEGIN;
T2: SELECT * FROM t;
T1: SELECT v FROM t WHERE id = 2;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
`;
const six: Candidate = candidateOf(parseScript(text, { file: 'six.sql', dialect: 'duckdb' }));
const lines = (candidate: Candidate): string[] =>
  candidate.schedule.batches
    .flat()
    .map(([s, p]) => `${candidate.case.sessions[s]!.name}: ${candidate.case.sessions[s]!.statements[p]}`);

describe('an editable case', () => {
  it('is the case it was made from until something is changed', () => {
    expect(contentKey(effectiveCase(editableCase(six)).candidate)).toBe(contentKey(six));
  });

  it('keeps lines that are off in the list, and leaves sessions without lines out', () => {
    const state = switchLines(editableCase(six), [{ statement: 2 }, { statement: 3 }, { setup: 1 }], true);
    const { candidate, lineOf } = effectiveCase(state);
    expect(candidate.case.sessions.map(({ name }) => name)).toEqual(['T2']);
    expect(candidate.case.setup).toEqual(['CREATE TABLE t (id INT, v INT)']);
    expect(lineOf([0, 2])).toBe(4);
    expect(
      contentKey(
        effectiveCase(switchLines(state, [{ statement: 2 }, { statement: 3 }, { setup: 1 }], false))
          .candidate,
      ),
    ).toBe(contentKey(six));
  });

  it('moves statements, between sessions and within one', () => {
    const state = moveLine(editableCase(six), 3, 0);
    expect(lines(effectiveCase(state).candidate)[0]).toBe('T1: DELETE FROM t WHERE id = 1');
    const swapped = effectiveCase(moveLine(editableCase(six), 4, 1)).candidate;
    expect(swapped.case.sessions[0]!.statements.slice(0, 3)).toEqual([
      'BEGIN',
      'UPDATE t SET v = 55 WHERE id = 1',
      'SELECT * FROM t',
    ]);
  });

  it('merges two transactions of a session', () => {
    const two = candidateOf(
      parseScript('T1: BEGIN;\nT1: SELECT 1;\nT1: COMMIT;\nT1: BEGIN;\nT1: SELECT 2;\nT1: COMMIT;', {
        file: 'two.sql',
      }),
    );
    const merged = effectiveCase(mergeTransactions(editableCase(two), 2)).candidate;
    expect(merged.case.sessions[0]!.statements).toEqual(['BEGIN', 'SELECT 1', 'SELECT 2', 'COMMIT']);
    expect(() => mergeTransactions(editableCase(two), 1)).toThrow('only a COMMIT or ROLLBACK');
  });

  it('refuses empty statements and lines that are not there', () => {
    expect(() => editLine(editableCase(six), { statement: 1 }, ' ; ')).toThrow('cannot be empty');
    expect(() => editLine(editableCase(six), { statement: 9 }, 'SELECT 1')).toThrow('no such line');
  });

  it('stays a case that can be run, whatever is done to it', () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('off' as const), at: fc.nat(5) }),
      fc.record({ kind: fc.constant('move' as const), at: fc.nat(5), to: fc.nat(5) }),
      fc.record({ kind: fc.constant('edit' as const), at: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        let state = editableCase(six);
        for (const each of changes) {
          if (each.kind === 'off') state = switchLines(state, [{ statement: each.at }], true);
          else if (each.kind === 'move') state = moveLine(state, each.at, each.to);
          else state = editLine(state, { statement: each.at }, 'SELECT 2');
        }
        const { candidate } = effectiveCase(state);
        expect(scheduleProblem(candidate.case, candidate.schedule)).toBeUndefined();
      }),
    );
  });
});

it('replays the story of D4’s Figure 4 on a live engine, and hands over to the shrinker and back', async () => {
  const oracle = await DatabaseOracle.open({ open: () => openTarget('duckdb:') });
  try {
    const { findings, history } = await oracle.observe(six);
    const session = new ShrinkSession({
      oracle,
      start: six,
      seen: { finding: chooseFinding(findings)!, history },
    });
    expect(session.hints()).toEqual([undefined, 'named', 'free', 'named', 'named', undefined]);

    // Take the second away: the finding is gone. Take that back.
    session.change('switched off line 2', (state) => switchLines(state, [{ statement: 1 }], true));
    expect((await session.try()).verdict).toBe('none');
    session.undo();
    expect(session.current.id).toBe(0);

    // Take the third away: five are left, and the finding with them.
    session.change('switched off line 3', (state) => switchLines(state, [{ statement: 2 }], true));
    expect(describeTrial(await session.try())).toBe('the same finding');
    expect(lines(session.candidate)).toHaveLength(5);
    expect(session.nodes.map(({ parent }) => parent)).toEqual([undefined, 0, 0]);

    // What does not run says why.
    session.change('edited line 5', (state) => editLine(state, { statement: 4 }, 'UPDATE nowhere SET v = 1'));
    expect(describeTrial(await session.try())).toMatch(/^it does not run: .*nowhere/s);
    session.undo();

    const node = await session.auto();
    expect(node.trial?.verdict).toBe('same');
    expect(node.change).toMatch(/^automatic: 5 → \d statements/);
    session.change('and on', (state) => switchLines(state, [{ statement: 0 }], true));
    await session.try();
    expect(session.undo().id).toBe(node.id);
    expect(session.redo().change).toBe('and on');
    expect(() => session.redo()).toThrow('nothing to redo');
  } finally {
    await oracle.close();
  }
});
