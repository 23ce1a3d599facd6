/**
 * The root cause of a finding, as another run of the same program shows it.
 *
 * In a raw run statements overlap, so of a conflict that the engine missed often only a consequence is certain: a row
 * that somebody wrote is gone. Where the same statements run in order, the oracle can say which write should have failed,
 * and reports that instead: it does not judge the rows of two writers that should have excluded each other. The finding
 * then has another kind and another identity, and is the better one to reproduce and reduce.
 *
 * Two findings are taken to have one root cause when they name the same write of the program. Of several the one whose
 * last operation comes first is chosen: what comes later may be its consequence.
 */
import type { History } from '../histories/index.js';
import type { Finding } from './finding.js';

const writes: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'merge', 'replace']);

/** A finding and the run it comes from; the run's operations name statements of the program. */
export interface FindingInRun {
  readonly finding: Finding;
  readonly history: History;
}

/** Of another run's findings the one with the same root cause; undefined: none has it. */
export function sharperFinding(
  seen: FindingInRun,
  findings: readonly Finding[],
  history: History,
): Finding | undefined {
  const written = writesNamed(seen);
  const last = ({ operations }: Finding) => Math.max(...operations.map(({ index }) => index));
  return findings
    .filter((finding) => writesNamed({ finding, history }).some((write) => written.includes(write)))
    .sort((a, b) => last(a) - last(b))[0];
}

/** The writing statements a finding names, by their place in the program. */
function writesNamed({ finding, history }: FindingInRun): string[] {
  const named = new Set(finding.operations.map(({ index }) => index));
  return history.operations.flatMap(({ index, kind, statement }) =>
    named.has(index) && writes.has(kind) && statement !== undefined ? [statement.join('/')] : [],
  );
}
