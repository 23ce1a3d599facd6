/**
 * From a raw history with a finding to a candidate: the program and the inferred order (`reproduce`), what is to be found
 * in its replay, and, when a replay does not show it, where the replay first answered otherwise.
 */

import type { Contract } from '../contracts/index.js';
import { type History, type Operation, resultText } from '../histories/index.js';
import { inferSchedule, rawInProgram } from '../reproduce/index.js';
import { valueKey } from '../sql/index.js';
import type { Target } from '../targets/index.js';
import { type Candidate, candidateOf } from './candidate.js';
import type { Judge } from './database-oracle.js';
import { chooseFinding, type SeenFinding } from './reduce-finding.js';

export interface RawFinding extends SeenFinding {
  readonly candidate: Candidate;
  /** How many findings the history has in all. */
  readonly findings: number;
}

/** The first finding of a history, with the history's program and order; undefined: none. */
export function rawFinding(
  history: History,
  contract: Contract,
  judge: Judge,
  target: Target,
): RawFinding | undefined {
  const findings = judge.findings(history, target);
  const finding = chooseFinding(findings);
  if (finding === undefined) return undefined;
  const inferred = inferSchedule(history, contract, { reasons: false, check: false });
  return {
    candidate: candidateOf(inferred),
    finding,
    history: rawInProgram(inferred),
    findings: findings.length,
  };
}

/** Where a replay first answered otherwise than the raw run, in a sentence; undefined: nowhere. */
export function firstDivergence(raw: History, replay: History): string | undefined {
  const key = ({ statement }: Operation) => statement?.join('/');
  const recorded = new Map(raw.operations.map((operation) => [key(operation), operation]));
  for (const again of replay.operations) {
    const before = again.statement === undefined ? undefined : recorded.get(key(again));
    if (before === undefined || answerOf(before) === answerOf(again)) continue;
    const name = replay.header.sessions[again.session] ?? String(again.session);
    const told = (operation: Operation) => resultText(operation) || '→ ok';
    return `${name}: ${again.sql} was answered ${told(before)} in the history and ${told(again)} in the replay`;
  }
  return undefined;
}

/** Equal when two runs of a statement were answered the same; rows without an ORDER BY come in any order. */
function answerOf({ outcome, error, rows, matched, changed }: Operation): string {
  const bag = rows?.map((row) => row.map(valueKey).join()).sort();
  return JSON.stringify([outcome, error?.class, bag, matched, changed]);
}
