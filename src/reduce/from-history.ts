/**
 * From a raw history with a finding to a candidate: the program and the inferred order (`reproduce`), what is to be found
 * in its replay, and, when a replay does not show it, where the replay first answered otherwise.
 */
import type { Finding } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import { type History, type Operation, resultText } from '../histories/index.js';
import { inferSchedule } from '../reproduce/index.js';
import { valueKey } from '../sql/index.js';
import type { Target } from '../targets/index.js';
import { type Candidate, candidateOf } from './candidate.js';
import type { Judge } from './database-oracle.js';

export interface RawFinding {
  readonly candidate: Candidate;
  readonly finding: Finding;
  /** Its identity, to be found again. */
  readonly wanted: string;
  /** How many findings of how many kinds the history has in all. */
  readonly findings: number;
  /** For each session and statement of the candidate, the operation of the history; −1: none. */
  readonly sources: readonly Int32Array[];
}

/** The finding of a history that rests on fewest operations; undefined: there is none. */
export function rawFinding(
  history: History,
  contract: Contract,
  judge: Judge,
  target: Target,
): RawFinding | undefined {
  const findings = judge.findings(history, target);
  const finding = findings.toSorted((a, b) => a.operations.length - b.operations.length)[0];
  if (finding === undefined) return undefined;
  const inferred = inferSchedule(history, contract, { reasons: false, check: false });
  return {
    candidate: candidateOf(inferred),
    finding,
    wanted: judge.identity(finding, history),
    findings: findings.length,
    sources: inferred.sources,
  };
}

/** Where a replay first answered otherwise than the raw run, in a sentence; undefined: nowhere. */
export function firstDivergence(
  raw: History,
  replay: History,
  sources: readonly Int32Array[],
): string | undefined {
  for (const again of replay.operations) {
    if (again.statement === undefined) continue;
    const [session, position] = again.statement;
    const before = raw.operations[sources[session]?.[position] ?? -1];
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
