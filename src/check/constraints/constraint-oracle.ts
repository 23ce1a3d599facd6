/**
 * Declared constraints as promises: whatever the level, a database that accepts a key, a condition or a reference keeps it.
 * Judges every run, whatever it was made for, and recorded SQL histories. What cannot be known is not judged and
 * leaves no verdict open: other oracles decide about the rest of the history.
 */
import type { Contract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import { catalogOf } from '../../rows/index.js';
import { demandedContract } from '../demanded-contract.js';
import type { Finding } from '../finding.js';
import { judgedHistory, type Oracle } from '../oracle.js';
import { judgeInsertedKeys } from './double-insert.js';
import { judgeInsertCount } from './insert-count.js';
import { judgeReferences } from './references.js';
import { RunFacts } from './run-facts.js';
import { judgeShownRows } from './shown-rows.js';

export const constraintOracle: Oracle = {
  name: 'constraints',
  title: 'declared keys, conditions and references, and the rows an INSERT acknowledges',
  needs: { run: 'any' },
  judge: (history, _plan, { contract }) =>
    judgedHistory(history, {
      oracle: 'constraints',
      contract: contract.id,
      findings: brokenConstraints(history, contract),
    }),
  check(recorded, demand) {
    if (recorded.kind !== 'sql') return undefined;
    const { history } = recorded;
    const contract = demandedContract(history.header, demand);
    const findings = brokenConstraints(history, contract);
    return judgedHistory(history, { oracle: 'constraints', contract: contract.id, findings });
  },
};

/** Every broken promise, each kind once for an operation. */
export function brokenConstraints(history: History, contract: Contract): Finding[] {
  if (!hasTables(history)) return [];
  const facts = new RunFacts(history, contract, catalogOf(history));
  return [
    ...judgeInsertedKeys(facts),
    ...history.operations.flatMap((operation) => [
      ...judgeShownRows(facts, operation),
      ...judgeInsertCount(facts, operation),
    ]),
    ...judgeReferences(facts),
  ];
}

/** Imported traces have no set-up, so nothing is declared. A table without any constraint still has the rows that an INSERT acknowledges. */
function hasTables({ header }: History): boolean {
  return (header.setup ?? []).some((sql) => /\bcreate\b/i.test(sql));
}
