/**
 * The oracles. To add one: a folder beside the others with a file that exports an `Oracle`, and one line here. A program that
 * uses the library registers its own with `registerOracle`.
 */
import type { Contract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import { constraintOracle } from './constraints/constraint-oracle.js';
import type { Finding, OracleName } from './finding.js';
import { findingIdentity } from './identity.js';
import { instrumentOracle } from './instrument/instrument-oracle.js';
import { kvOracles } from './kv/kv-oracles.js';
import { mechanismOracle } from './mechanism/mechanism-oracle.js';
import type { Oracle } from './oracle.js';
import { serverOracle } from './server/server-oracle.js';
import { statementOracle } from './statement/statement-oracle.js';

const registry: Oracle[] = [
  serverOracle,
  constraintOracle,
  mechanismOracle,
  instrumentOracle as Oracle,
  statementOracle as Oracle,
  ...kvOracles,
];

/** Every oracle, in the order in which they are asked. */
export const oracles: readonly Oracle[] = registry;

/** Adds an oracle; the function returned removes it again. */
export function registerOracle<Plan>(oracle: Oracle<Plan>): () => void {
  if (registry.some(({ name }) => name === oracle.name))
    throw new IsoldeError('usage', `there is an oracle called "${oracle.name}" already`);
  registry.push(oracle as Oracle);
  return () => {
    const at = registry.indexOf(oracle as Oracle);
    if (at >= 0) registry.splice(at, 1);
  };
}

export function findOracle(name: OracleName): Oracle | undefined {
  return registry.find((oracle) => oracle.name === name);
}

export function oracleNamed(name: OracleName): Oracle {
  const found = findOracle(name);
  if (found !== undefined) return found;
  const names = registry.map((oracle) => oracle.name).join(', ');
  throw new IsoldeError('usage', `there is no oracle "${name}"; there are ${names}`);
}

/** The oracles that run cases of their own and can hold them to this contract. */
export function oraclesFor(contract: Contract): readonly Oracle[] {
  return registry.filter(
    ({ needs, judge, refuses }) =>
      judge !== undefined && needs.run !== 'any' && refuses?.(contract) === undefined,
  );
}

/** The oracle that judges runs where none is named: the first that can hold them to this contract. */
export function usualOracle(contract?: Contract): Oracle {
  const able =
    contract === undefined
      ? registry.filter(({ judge, needs }) => judge && needs.run !== 'any')
      : oraclesFor(contract);
  return able[0]!;
}

/** Whether what an oracle finds is that the database itself failed. */
export function isServerFailure({ oracle }: { readonly oracle: OracleName }): boolean {
  return findOracle(oracle)?.decisive === true;
}

/** The oracles that judge every run, whatever it was made for. */
export function constantOracles(): readonly Oracle[] {
  return registry.filter(({ needs }) => needs.run === 'any');
}

/** What makes a finding the finding it is, as its own oracle takes it. */
export function identityOf(finding: Finding, history: History): string {
  return (findOracle(finding.oracle)?.identity ?? findingIdentity)(finding, history);
}

/** The finding with only the operations that play a part in it, as its own oracle says. */
export function focusOf(finding: Finding): Finding {
  return findOracle(finding.oracle)?.focus?.(finding) ?? finding;
}
