/**
 * The database where a fleet meets, as a script: each statement is answered by the first rule whose words it contains. For tests of
 * what is asked and of what is made of the answers; that PostgreSQL does what the statements say is tested with a real one.
 */
import type { SharedDatabase } from '../store/index.js';

export interface Asked {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** It was sent inside a transaction. */
  readonly inside: boolean;
}

export type Rule = readonly [
  words: string,
  rows: readonly unknown[] | ((values: readonly unknown[]) => readonly unknown[]),
];

export function fakeDatabase(...rules: readonly Rule[]): { database: SharedDatabase; asked: Asked[] } {
  const asked: Asked[] = [];
  const answer =
    (inside: boolean) =>
    async (sql: string, values: readonly unknown[] = []) => {
      asked.push({ sql: sql.replaceAll(/\s+/g, ' ').trim(), values, inside });
      const rows = rules.find(([words]) => asked.at(-1)!.sql.includes(words))?.[1] ?? [];
      return typeof rows === 'function' ? rows(values) : rows;
    };
  const database = {
    query: answer(false),
    transaction: (work: (sql: { query: unknown }) => Promise<unknown>) => work({ query: answer(true) }),
    persistent: (work: () => Promise<unknown>) => work(),
    close: async () => undefined,
  };
  return { database: database as unknown as SharedDatabase, asked };
}
