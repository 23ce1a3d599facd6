import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Contract, findContract } from '../../contracts/index.js';
import { explain } from '../explain.js';
import { type Action, type Answered, explainable, historyOf, simulate, sqlOf } from './simulate.case.js';
import {
  choices,
  chooser,
  simulatedContracts as contracts,
  programs,
  statement,
} from './simulated-programs.case.js';
import { verifyMechanism } from './verify.js';

const seed = Number(process.env.ISOLDE_SEED ?? 20_260_101);
const runs = Number(process.env.ISOLDE_RUNS ?? 250);

function show(answered: readonly Answered[]): string {
  return answered
    .map(
      (step) =>
        `[${step.start},${step.end}] ${step.session}: ${sqlOf(step.action)} -> ${JSON.stringify(step.answer)}`,
    )
    .join('\n');
}

/** Changes one answer a little. */
function mutate(answered: readonly Answered[], next: (below: number) => number): Answered[] {
  const places = answered.flatMap(({ answer }, i) => ('rows' in answer || 'matched' in answer ? [i] : []));
  if (places.length === 0) return [...answered];
  const at = places[next(places.length)]!;
  return answered.map((step, i): Answered => {
    if (i !== at) return step;
    const { answer } = step;
    if ('matched' in answer)
      return step.action.type === 'insert'
        ? step
        : { ...step, answer: { matched: answer.matched + (next(2) === 0 ? 1 : -1) } };
    if (!('rows' in answer)) return step;
    const rows = [...answer.rows];
    const row = next(rows.length);
    const way = next(3);
    if (rows.length === 0 || way === 0) rows.push([1 + next(3), 10 + 10 * next(3)]);
    else if (way === 1) rows.splice(row, 1);
    else rows[row] = [rows[row]![0], answered.length + 9 + next(20)];
    return { ...step, answer: { rows: rows.sort((a, b) => a[0] - b[0]) } };
  });
}

/** Whether the verifier follows every write: not subqueries of writes that see current rows, nor uncommitted data. */
function isFollowed(answered: readonly Answered[], { mechanism }: Contract): boolean {
  const { pivot, writesSee } = mechanism!;
  const followed = writesSee === 'snapshot' || !answered.some(({ action }) => action.type === 'update-if');
  return pivot !== 'uncommitted' && followed;
}

describe.each(contracts)('$id', (contract) => {
  it(`has no finding on what a correct database answers (seed ${seed})`, () => {
    fc.assert(
      fc.property(programs(3), choices, fc.boolean(), (sessions, stream, exact) => {
        const answered = simulate(contract, sessions, chooser(stream), exact);
        const { findings } = verifyMechanism(historyOf(answered), contract);
        expect(findings.map(explain), show(answered)).toEqual([]);
      }),
      { numRuns: runs, seed },
    );
  });

  it(`finds only what no order of instants explains, and all of it where times leave one order (seed ${seed})`, () => {
    let wrong = 0;
    let found = 0;
    fc.assert(
      fc.property(programs(1), choices, fc.boolean(), (sessions, stream, exact) => {
        const next = chooser(stream);
        const answered = mutate(simulate(contract, sessions, next, exact), next);
        if (answered.length > 12) return;
        const truth = explainable(contract, answered);
        if (truth === undefined) return;
        const { findings } = verifyMechanism(historyOf(answered), contract);
        if (truth) expect(findings.map(explain), show(answered)).toEqual([]);
        else wrong++;
        if (!truth && findings.length > 0) found++;
        if (!truth && exact && isFollowed(answered, contract))
          expect(findings.length, show(answered)).toBeGreaterThan(0);
      }),
      { numRuns: runs, seed },
    );
    // The twin must have had something to refute, and we something to find.
    expect(wrong).toBeGreaterThan(runs / 10);
    expect(found).toBeGreaterThan(wrong / 4);
  });
});

describe('the manual of InnoDB, and what was reported beyond it', () => {
  const plain = findContract('mariadb:repeatable-read')!;
  const reported = findContract('mariadb:repeatable-read+reported')!;
  const own: fc.Arbitrary<Action> = statement.filter(
    ({ type }) => type.startsWith('delete') || type === 'update-if',
  );
  const others = fc.array(statement, { minLength: 1, maxLength: 3 });
  const meeting = fc.tuple(own, own, others).map(([first, second, other]): Action[][] => {
    const read: Action = { type: 'read', least: 0 };
    return [[{ type: 'begin' }, read, first, read, second, read, { type: 'commit' }], other];
  });

  it(`finds in what the manual allows only what no order explains, and finds both (seed ${seed})`, () => {
    const kinds = new Map<string, number>();
    fc.assert(
      fc.property(meeting, choices, fc.boolean(), (sessions, stream, exact) => {
        const programs = sessions.map((actions) =>
          actions.map((each) => (each.type === 'insert' ? { ...each, id: 10 } : each)),
        );
        const answered = simulate(plain, programs, chooser(stream), exact);
        const { findings } = verifyMechanism(historyOf(answered), reported);
        for (const { kind } of findings) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        const truth = explainable(reported, answered);
        if (truth === undefined) return;
        if (truth) expect(findings.map(explain), show(answered)).toEqual([]);
        else if (exact && isFollowed(answered, reported))
          expect(findings.length, show(answered)).toBeGreaterThan(0);
      }),
      { numRuns: 2 * runs, seed },
    );
    expect([...kinds.keys()].sort()).toEqual(['condition-mismatch', 'own-delete-missed']);
  });
});
