/**
 * Fake oracles for tests of strategies: a case whose operations are numbered, and a predicate over the numbers that are
 * left. Dependencies are given as edges. Everything runs in microseconds.
 */
import fc from 'fast-check';
import { type Case, type StatementRef, totalOrder } from '../cases/index.js';
import type { Candidate } from './candidate.js';
import type { DependencySource } from './dependencies.js';
import type { PassContext } from './passes/index.js';
import type { TrialOracle, Verdict } from './trial.js';

export const fakeContext: PassContext = { dialect: 'postgres', levels: [], level: undefined };

/** Operation n is the statement `OP n`. */
export function numbersIn({ case: program }: Candidate): Set<number> {
  const texts = program.sessions.flatMap(({ statements }) => statements);
  return new Set(texts.flatMap((sql) => (sql.startsWith('OP ') ? [Number(sql.slice(3))] : [])));
}

export function fakeOracle(
  shows: (numbers: ReadonlySet<number>) => boolean | Verdict,
  options: { readonly lanes?: number; readonly delay?: () => Promise<void> } = {},
): TrialOracle & { readonly runs: string[] } {
  const runs: string[] = [];
  const busy = new Set<number>();
  return {
    lanes: options.lanes ?? 1,
    runs,
    async run(candidate, lane) {
      if (busy.has(lane)) throw new Error(`lane ${lane} runs two trials at once`);
      busy.add(lane);
      const numbers = numbersIn(candidate);
      runs.push([...numbers].sort((a, b) => a - b).join(' '));
      await options.delay?.();
      busy.delete(lane);
      const answer = shows(numbers);
      return { verdict: typeof answer === 'string' ? answer : answer ? 'same' : 'none' };
    },
  };
}

/**
 * A case of numbered operations in the given sessions, grouped into transactions: each inner list is one. Numbers are
 * given in schedule order, round-robin over the sessions.
 */
export function numberedCase(sessions: readonly (readonly number[])[]): Candidate {
  let next = 0;
  const texts = sessions.map((lengths) => lengths.map((length) => new Array<string>(length).fill('')));
  const order: StatementRef[] = [];
  const lines = texts.map((transactions) =>
    transactions.flatMap((operations) =>
      operations.length === 1 ? operations : ['BEGIN', ...operations, 'COMMIT'],
    ),
  );
  for (let position = 0; lines.some((line) => position < line.length); position++) {
    lines.forEach((line, s) => {
      if (position >= line.length) return;
      if (line[position] === '') line[position] = `OP ${next++}`;
      order.push([s, position]);
    });
  }
  const program: Case = {
    name: 'numbered',
    setup: [],
    sessions: lines.map((statements, s) => ({ name: `S${s}`, statements })),
  };
  return { case: program, schedule: totalOrder(order) };
}

/** Edges as a source: operation `to` reads what `from` wrote. Every operation writes a row of its own. */
export function edgeSource(edges: readonly (readonly [from: number, to: number])[]): DependencySource {
  return {
    accesses: (id) => [
      { table: 't', row: String(id), writes: true },
      ...edges
        .filter(([, to]) => to === id)
        .map(([from]) => ({ table: 't', row: String(from), writes: false })),
    ],
  };
}

export const arbitraryCase = fc
  .array(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((sessions) => ({
    candidate: numberedCase(sessions),
    count: sessions.flat().reduce((sum, length) => sum + length, 0),
  }));

/** Forward edges over so many operations. */
export function arbitraryEdges(count: number): fc.Arbitrary<(readonly [number, number])[]> {
  const id = fc.nat({ max: count - 1 });
  return fc
    .array(fc.tuple(id, id), { maxLength: count })
    .map((pairs) =>
      pairs.filter(([a, b]) => a !== b).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
    );
}
