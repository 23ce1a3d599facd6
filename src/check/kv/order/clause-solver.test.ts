/** The solver against every assignment there is. The theory is a set of clauses that it keeps to itself. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Effort } from '../effort.js';
import { ClauseSolver, type Theory } from './clause-solver.js';

/** Literals of which one must be true. */
type Clause = readonly number[];

/** Knows clauses, and says so only when one is violated. */
class ClauseTheory implements Theory {
  readonly trail: number[] = [];
  conflicts = 0;
  constructor(
    readonly clauses: readonly Clause[],
    readonly preferred: number,
  ) {}

  assert(literal: number) {
    if (this.trail.includes(literal) || this.trail.includes(literal ^ 1)) throw new Error('said twice');
    this.trail.push(literal);
    const proof = this.clauses.findIndex((clause) => clause.every((each) => this.trail.includes(each ^ 1)));
    if (proof < 0) return undefined;
    this.conflicts++;
    return { literals: this.clauses[proof]!.map((each) => each ^ 1), proof };
  }

  retract(count: number): void {
    if (count > this.trail.length) throw new Error('more taken back than said');
    this.trail.length -= count;
  }

  prefer(variable: number): number {
    return 2 * variable + this.preferred;
  }
}

function satisfies(clauses: readonly Clause[], assignment: number): boolean {
  return clauses.every((clause) => clause.some((each) => ((assignment >> (each >> 1)) & 1) === (each & 1)));
}

const satisfiable = (count: number, clauses: readonly Clause[]): boolean =>
  Array.from({ length: 1 << count }, (_, i) => i).some((assignment) => satisfies(clauses, assignment));

const problem = fc.integer({ min: 1, max: 6 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    clauses: fc.array(
      fc.uniqueArray(fc.nat(2 * count - 1), {
        minLength: 1,
        maxLength: 3,
        selector: (literal) => literal >> 1,
      }),
      { maxLength: 30 },
    ),
    preferred: fc.nat(1),
  }),
);

describe('the solver', () => {
  it('finds a solution exactly where there is one, and a right one', () => {
    let refuted = 0;
    fc.assert(
      fc.property(problem, ({ count, clauses, preferred }) => {
        const theory = new ClauseTheory(clauses, preferred);
        const result = new ClauseSolver(count, theory).solve(new Effort());
        expect(result.outcome === 'satisfiable').toBe(satisfiable(count, clauses));
        if (result.outcome !== 'satisfiable') {
          refuted++;
          return;
        }
        expect(theory.trail.map((literal) => literal >> 1).sort((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, i) => i),
        );
        const assignment = theory.trail.reduce(
          (bits, literal) => bits | ((literal & 1) << (literal >> 1)),
          0,
        );
        expect(satisfies(clauses, assignment)).toBe(true);
      }),
      { numRuns: 500, seed: 1 },
    );
    expect(refuted).toBeGreaterThan(50);
  });

  it('rests a refutation on conflicts that are enough for it', () => {
    fc.assert(
      fc.property(problem, ({ count, clauses, preferred }) => {
        const result = new ClauseSolver(count, new ClauseTheory(clauses, preferred)).solve(new Effort());
        if (result.outcome !== 'unsatisfiable') return;
        const used = result.proofs.map((proof) => clauses[proof]!);
        expect(satisfiable(count, used)).toBe(false);
      }),
      { numRuns: 500, seed: 2 },
    );
  });

  it('does not guess where nothing is open', () => {
    const outcome = (clauses: readonly Clause[]) =>
      new ClauseSolver(1, new ClauseTheory(clauses, 0)).solve(new Effort());
    // It has to try a side to hear that it is impossible.
    expect(outcome([[0], [1]])).toEqual({ outcome: 'unsatisfiable', proofs: [0, 1], guessed: true });
    expect(new ClauseSolver(0, new ClauseTheory([], 0)).solve(new Effort())).toEqual({
      outcome: 'satisfiable',
    });
  });

  it('refutes that n + 1 pigeons fit into n holes, with restarts on the way', () => {
    const holes = 6;
    const at = (pigeon: number, hole: number) => 2 * (pigeon * holes + hole);
    const pigeons = Array.from({ length: holes + 1 }, (_, i) => i);
    const clauses: Clause[] = pigeons.map((pigeon) =>
      Array.from({ length: holes }, (_, hole) => at(pigeon, hole)),
    );
    for (let hole = 0; hole < holes; hole++)
      for (const a of pigeons)
        for (const b of pigeons) if (a < b) clauses.push([at(a, hole) ^ 1, at(b, hole) ^ 1]);
    const theory = new ClauseTheory(clauses, 1);
    const result = new ClauseSolver(pigeons.length * holes, theory).solve(new Effort());
    expect(result.outcome).toBe('unsatisfiable');
    expect(theory.conflicts).toBeGreaterThan(128);
    // With one pigeon fewer there is a way.
    const fewer = clauses.slice(1).filter((clause) => clause.every((literal) => literal >> 1 >= holes));
    expect(
      new ClauseSolver(pigeons.length * holes, new ClauseTheory(fewer, 1)).solve(new Effort()).outcome,
    ).toBe('satisfiable');
  });

  it('gives up when the time is up', () => {
    const count = 12;
    const random = fc.sample(
      fc.uniqueArray(fc.nat(2 * count - 1), { minLength: 3, maxLength: 3, selector: (each) => each >> 1 }),
      { numRuns: 400, seed: 9 },
    );
    let now = 0;
    const effort = new Effort({ seconds: 1, memoryBytes: 1 }, () => now);
    now = 2000;
    const result = new ClauseSolver(count, new ClauseTheory(random, 0)).solve(effort);
    expect(['unknown', 'unsatisfiable']).toContain(result.outcome);
  });
});
