/**
 * What was read against what was expected, as roles instead of values: own write, committed before the pivot, later,
 * aborted, never written, absent. The values themselves never enter the signature.
 */
import { type Finding, type Observation, showObservation, type VersionSeen } from '../check/index.js';
import { describeKind } from '../contracts/index.js';

/** `saw absent, expected own write`: each way of being wrong once, sorted. */
export function rolesOf(finding: Finding): string[] {
  const aborted = finding.transactions.some(({ status }) => status === 'aborted');
  return [...new Set((finding.versions ?? []).map((version) => roleOf(finding, version, aborted)))].sort();
}

function roleOf(finding: Finding, { seen, allowed }: VersionSeen, aborted: boolean): string {
  const { seenAs = ['a value', 'another value'], seenOfAborted } = describeKind(finding.kind);
  const [seenRow, expectedRow] = seenAs;
  const row = aborted ? (seenOfAborted ?? seenRow) : seenRow;
  const expected = [...new Set(allowed.map((each) => name(each, expectedRow)))].sort();
  return `saw ${name(seen, row)}${expected.length === 0 ? '' : `, expected ${expected.join(' or ')}`}`;
}

/** Values have the role of their kind of finding; everything else says what it is. */
function name(observation: Observation, row: string): string {
  switch (observation.as) {
    case 'values':
      return row;
    case 'absent':
      return 'absent';
    case 'matched':
      return 'another number of rows';
    case 'before-commit':
      return 'before a commit';
    case 'after-commit':
      return 'after a commit';
    default:
      return showObservation(observation);
  }
}
