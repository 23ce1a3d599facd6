/**
 * A probe case: an interleaving that shows an anomaly on a database that allows it, and the question that tells
 * from the results whether it happened.
 *
 * A case is written in the script form (`docs/formats/script.md`): lines `T1: statement` in the order they are
 * sent. The session `after` looks at the final state when all others are done.
 */
import { type Case, parseScript, type Schedule, serialOrder } from '../cases/index.js';
import type { Anomaly } from '../contracts/index.js';
import type { Seen } from './seen.js';

/** What the results of a run that went through as written show. */
export interface Evidence {
  readonly happened: boolean;
  /** The argument, in the values that were seen. */
  readonly why: string;
}

export interface ProbeCase {
  /** Unique; the anomaly's id for its plain form. */
  readonly id: string;
  readonly anomaly: Anomaly;
  readonly title: string;
  /** Why no serial order explains what is seen when it happens. */
  readonly argument: string;
  /** Who described it. */
  readonly origin: string;
  readonly case: Case;
  readonly schedule: Schedule;
  /** Asked only when every statement worked and every COMMIT committed (`judge.ts`). */
  readonly evidence: (seen: Seen) => Evidence;
}

/** The table of most cases: two rows, (1, 10) and (2, 20). */
export const testTable: readonly string[] = [
  'CREATE TABLE test (id INT PRIMARY KEY, value INT)',
  'INSERT INTO test (id, value) VALUES (1, 10), (2, 20)',
];

/** The same rows without an index: some engines check conflicts only through one. */
export const plainTable: readonly string[] = [
  'CREATE TABLE test (id INT, value INT)',
  'INSERT INTO test (id, value) VALUES (1, 10), (2, 20)',
];

/** The session that reads the final state. */
export const observer = 'after';

export interface ProbeText extends Omit<ProbeCase, 'case' | 'schedule'> {
  readonly setup?: readonly string[];
  /** Lines `session: statement`, in the order they are sent. */
  readonly script: string;
}

/** A probe case from its script. */
export function probeCase({ setup = testTable, script, ...rest }: ProbeText): ProbeCase {
  const lines = script
    .trim()
    .split('\n')
    .map((line) => line.trim());
  const text = [...setup.map((sql) => `${sql};`), ...lines].join('\n');
  const { case: program, schedule = serialOrder(program) } = parseScript(text, { file: rest.id });
  return { ...rest, case: { ...program, description: rest.title }, schedule };
}
