/**
 * The mechanism verifier as an oracle: plain runs and recorded SQL histories, held to how a vendor's engine works.
 *
 * `true` means that everything was judged and nothing broke the contract. What could not be judged leaves the
 * verdict `unknown`, with what was skipped and why; a finding decides in any case.
 */
import { IsoldeError } from '../../errors.js';
import { counted } from '../../words.js';
import { demandedContract } from '../demanded-contract.js';
import { type CheckResult, type Oracle, verdictOf } from '../oracle.js';
import type { MechanismResult } from './result.js';
import { verifyMechanism } from './verify.js';

export const mechanismOracle: Oracle = {
  name: 'mechanism',
  title: 'what each read and write may see and must wait for, by how the engine works',
  needs: { run: 'plain' },
  rounds: 5,
  refuses: ({ id, mechanism }) =>
    mechanism === undefined ? `the contract ${id} does not say how an engine works` : undefined,
  judge: (history, _plan, { contract }) => ({ ...resultOf(verifyMechanism(history, contract)), history }),
  check(recorded, demand, { anomalies, compareWith }) {
    if (recorded.kind !== 'sql') return undefined;
    if (anomalies !== undefined) {
      throw new IsoldeError(
        'usage',
        'anomalies can be chosen among those of key-value histories only; this one holds SQL statements',
      );
    }
    const { history } = recorded;
    const contract = demandedContract(history.header, demand);
    const result = resultOf(
      verifyMechanism(history, contract, compareWith === undefined ? {} : { compareWith }),
    );
    return withOmitted(result, history.header.omitted ?? []);
  },
};

function resultOf(result: MechanismResult): CheckResult {
  const { findings, skipped, checked, contract, comparison } = result;
  const unknownReasons = skipped.map(
    ({ what, reason, count }) => `${counted(count, what)} not judged: ${reason}`,
  );
  return {
    valid: verdictOf(findings, unknownReasons),
    oracle: 'mechanism',
    contract,
    findings,
    beyond: [],
    strongest: [],
    unknownReasons,
    skipped,
    notes: [...result.notes, ...compared(result)],
    checked,
    ...(comparison !== undefined && { comparison }),
  };
}

/** What is not in the history may break anything. */
function withOmitted(result: CheckResult, omitted: readonly string[]): CheckResult {
  if (omitted.length === 0) return result;
  const unknownReasons = [...omitted, ...result.unknownReasons];
  return { ...result, valid: verdictOf(result.findings, unknownReasons), unknownReasons };
}

function compared({ comparison, findings }: MechanismResult): string[] {
  if (comparison === undefined) return [];
  const { appear, vanish } = comparison;
  return [
    `under ${comparison.contract} there would be ${comparison.findings} findings instead of ${findings.length}: ` +
      `${appear.length} would appear${kindsOf(appear)} and ${vanish.length} would vanish${kindsOf(vanish)}`,
  ];
}

function kindsOf(findings: MechanismResult['findings']): string {
  const counts = new Map<string, number>();
  for (const { kind } of findings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const listed = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return listed === '' ? '' : ` (${listed})`;
}
