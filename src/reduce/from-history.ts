/**
 * From a raw history with a finding to a candidate: the program and the inferred order (`reproduce`), what is to be found
 * in its replay, and, when a replay does not show it, where the replay first answered otherwise.
 */

import type { Finding } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import { type History, type Operation, resultText } from '../histories/index.js';
import {
  FindingReplays,
  findOrder,
  inferSchedule,
  type OrderSearch,
  openInference,
  rawInProgram,
} from '../reproduce/index.js';
import { valueKey } from '../sql/index.js';
import { type Candidate, candidateOf } from './candidate.js';
import { chooseFinding, type SeenFinding } from './seen-finding.js';
import type { FindingOracle } from './trial.js';

export interface RawFinding extends SeenFinding {
  readonly candidate: Candidate;
  /** How many findings the history has in all. */
  readonly findings: number;
  /** The history as it was recorded, and what orders it: from these other orders can be learnt. */
  readonly recorded: History;
  readonly contract: Contract;
}

/** The first of a history's findings, with the history's program and order; undefined: there is none. */
export function rawFinding(
  history: History,
  contract: Contract,
  findings: readonly Finding[],
): RawFinding | undefined {
  const finding = chooseFinding(findings);
  if (finding === undefined) return undefined;
  const inferred = inferSchedule(history, contract, { reasons: false, check: false });
  return {
    candidate: candidateOf(inferred),
    finding,
    history: rawInProgram(inferred),
    findings: findings.length,
    recorded: history,
    contract,
  };
}

/** Replays from which an order may be learnt. */
const mostReplays = 40;

/**
 * Another order of a raw finding's program, learnt from replays, that shows the finding, with the replay that does;
 * undefined: none was found.
 */
export async function orderThatShows(
  { recorded, contract, finding }: RawFinding,
  oracle: Pick<FindingOracle, 'observe' | 'identity'>,
  signal?: AbortSignal,
): Promise<(SeenFinding & { readonly candidate: Candidate }) | undefined> {
  const inference = openInference(recorded, contract, { reasons: false, check: false });
  const given = inference.order();
  const search: OrderSearch = {
    observe: (program) => oracle.observe(candidateOf(program)),
    identity: (one, history) => oracle.identity(one, history),
    mostReplays,
    ...(signal && { signal }),
  };
  const { order, seen } = await findOrder(
    inference,
    given,
    new FindingReplays(given, finding, search),
    search,
  );
  if (seen.shown === undefined) return undefined;
  return { candidate: candidateOf(order), finding: seen.shown, history: seen.report.history };
}

/** Where a replay first answered otherwise than the raw run, in a sentence; undefined: nowhere. */
export function firstDivergence(raw: History, replay: History): string | undefined {
  const key = ({ statement }: Operation) => statement?.join('/');
  const recorded = new Map(raw.operations.map((operation) => [key(operation), operation]));
  for (const again of replay.operations) {
    const before = again.statement === undefined ? undefined : recorded.get(key(again));
    if (before === undefined || answerOf(before) === answerOf(again)) continue;
    const name = replay.header.sessions[again.session] ?? String(again.session);
    const answer = (operation: Operation) => resultText(operation) || '→ ok';
    return `${name}: ${again.sql} was answered ${answer(before)} in the history and ${answer(again)} in the replay`;
  }
  return undefined;
}

/** Equal when two runs of a statement were answered the same; rows without an ORDER BY come in any order. */
function answerOf({ outcome, error, rows, matched, changed }: Operation): string {
  const bag = rows?.map((row) => row.map(valueKey).join()).sort();
  return JSON.stringify([outcome, error?.class, bag, matched, changed]);
}
