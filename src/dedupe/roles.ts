/**
 * What was read against what was expected, as roles instead of values: own write, committed before the pivot, later,
 * aborted, never written, absent. The values themselves never enter the signature.
 */
import type { Finding, VersionSeen } from '../check/index.js';
import { describeKind } from '../contracts/index.js';

/** Sentences of ours that stand for results; anything else is data and has no role of its own. */
const phrases: ReadonlySet<string> = new Set([
  'written without an error',
  'a serialization error',
  'a wait for the first to end',
  'exclusive lock granted',
  'share lock granted',
]);

/** `saw absent, expected own write`: each way of being wrong once, sorted. */
export function rolesOf(finding: Finding): string[] {
  const aborted = finding.transactions.some(({ status }) => status === 'aborted');
  return [...new Set((finding.versions ?? []).map((version) => roleOf(finding, version, aborted)))].sort();
}

function roleOf(finding: Finding, { seen, allowed }: VersionSeen, aborted: boolean): string {
  const [seenRow, expectedRow] = describeKind(finding.kind).seenAs ?? ['a value', 'another value'];
  const row = finding.kind === 'dirty-read' && aborted ? 'aborted' : seenRow;
  const expected = [...new Set(allowed.map((text) => name(text, expectedRow)))].sort();
  return `saw ${name(seen, row)}${expected.length === 0 ? '' : `, expected ${expected.join(' or ')}`}`;
}

function name(text: string, row: string): string {
  if (text === 'no row') return 'absent';
  if (phrases.has(text)) return text;
  if (/^\d+ rows? matched$/.test(text)) return 'another number of rows';
  if (/^(after|before) T\d+$/.test(text)) return text.replace(/ T\d+$/, ' a commit');
  return row;
}
