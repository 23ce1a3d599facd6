import type { ContractSource } from './contract.js';

/** One page as the source of several clauses. */
export function cite(title: string, url: string, ...clauses: readonly string[]): ContractSource[] {
  return clauses.map((clause) => ({ clause, title, url }));
}
