/**
 * Which finding to follow when a raw run's finding is reduced: the one that was seen, or what it is when statements run in order.
 *
 * In a raw run statements overlap, and of a conflict that the engine missed often only a consequence is certain. Where few of
 * its statements run one after another, the oracle says what is wrong with the write instead, and no longer what follows from
 * it (`sharperFinding`). Trials that look for the consequence then fail until nearly the whole run is back, overlaps and all:
 * minutes instead of a second.
 *
 * So the small sets of operations around the finding that the `witness` strategy starts from are run once each. If one of them shows
 * the finding as it was seen, that is followed. If none does, and one shows a finding about the same write of the program, that
 * one is. Otherwise it stays as it was seen.
 */
import { type Finding, type FindingInRun, sharperFinding } from '../check/index.js';
import type { History } from '../histories/index.js';
import { type CaseModel, restrictTo, type Subset, statementsOf } from './case-model.js';
import { witnessLayers } from './strategies/witness.js';
import type { Surroundings } from './surroundings.js';
import type { FindingOracle } from './trial.js';

const mostOperations = 60;

export interface Followed {
  readonly finding: Finding;
  readonly identity: string;
}

export async function followedFinding(
  seen: FindingInRun,
  around: Surroundings,
  oracle: Pick<FindingOracle, 'observe' | 'identity'>,
  signal?: AbortSignal,
): Promise<Followed> {
  const asSeen = { finding: seen.finding, identity: oracle.identity(seen.finding, seen.history) };
  let sharper: Followed | undefined;
  for (const layer of witnessLayers(around)) {
    if (layer.length > mostOperations || signal?.aborted === true) break;
    const { history, findings } = await oracle.observe(restrictTo(around.model, layer));
    if (findings.some((finding) => oracle.identity(finding, history) === asSeen.identity)) return asSeen;
    const finding = sharperFinding(seen, findings, inProgram(history, around.model, layer));
    if (finding !== undefined) sharper ??= { finding, identity: oracle.identity(finding, history) };
  }
  return sharper ?? asSeen;
}

/** A run of some operations with its statements named as in the whole case. */
function inProgram(history: History, model: CaseModel, layer: Subset): History {
  const names = statementsOf(model, layer);
  const operations = history.operations.map((operation) => {
    const { statement, ...rest } = operation;
    const name = statement === undefined ? undefined : names[statement[0]]?.[statement[1]];
    return name === undefined ? rest : { ...rest, statement: name };
  });
  return { header: history.header, operations };
}
