/** What checking a history found, as places to jump to. */
import { explain, type Finding } from '../../check/index.js';
import type { HistoryColumns } from './history-columns.js';

/**
 * Checks a history file: resolves to what `isolde check FILE --json` prints. Whoever starts the studio says how; checking a million
 * operations takes memory and time that the server does not share.
 */
export type CheckFile = (file: string, signal: AbortSignal) => Promise<string>;

export type HistoryCheck =
  | { readonly state: 'none' | 'possible' | 'checking' }
  | { readonly state: 'failed'; readonly failure: string }
  | {
      readonly state: 'done';
      readonly valid: boolean | 'unknown';
      readonly reasons: readonly string[];
      readonly findings: readonly FindingMark[];
      /** How many are left out. */
      readonly more: number;
    };

export interface FindingMark {
  readonly kind: string;
  readonly clause: string;
  readonly argument: string;
  readonly operations: readonly number[];
  /** Where its first operation begins; absent: it names none. */
  readonly place?: number;
  /** The session of that operation. */
  readonly session?: number;
}

const mostFindings = 500;
const mostOperations = 200;
const longestArgument = 3000;

/** What the line that `isolde check --json` printed says of a history. */
export function checkOf(line: string, columns: HistoryColumns): HistoryCheck {
  const { error, valid, findings, unknownReasons } = JSON.parse(line) as {
    readonly error?: string;
    readonly valid: boolean | 'unknown';
    readonly findings: readonly Finding[];
    readonly unknownReasons?: readonly string[];
  };
  if (error !== undefined) return { state: 'failed', failure: error };
  return {
    state: 'done',
    ...{ valid, reasons: unknownReasons ?? [] },
    findings: findings
      .slice(0, mostFindings)
      .map((finding) => markOf(finding, columns))
      .toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0)),
    more: Math.max(0, findings.length - mostFindings),
  };
}

export function markOf(finding: Finding, columns: HistoryColumns): FindingMark {
  const operations = finding.operations
    .map(({ index }): number => index)
    .filter((index) => Number.isInteger(index) && index >= 0 && index < columns.count)
    .slice(0, mostOperations)
    .toSorted((a, b) => columns.start[a]! - columns.start[b]!);
  const first = operations[0];
  return {
    kind: finding.kind,
    clause: finding.clause ?? finding.rulesOut.map((level) => `not ${level}`).join(', '),
    argument: explain(finding).slice(0, longestArgument),
    operations,
    ...(first !== undefined && { place: columns.start[first]!, session: columns.session[first]! }),
  };
}
