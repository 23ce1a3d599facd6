/**
 * The matter of a finding, in another run of the same program.
 *
 * In a raw run statements overlap, so of a conflict that the engine missed often only a consequence is certain: a row
 * that somebody wrote is gone. Where the same statements run in order, the oracle can say which write should have failed,
 * and says that instead, for it does not judge what two writers leave behind that should have excluded each other. The
 * finding then has another kind and another identity, and is the better one to follow.
 *
 * Two findings are taken for one matter when they name the same write of the program. Of several the one that is complete
 * earliest is meant: what comes later may be its consequence.
 */
import type { History } from '../histories/index.js';
import type { Finding } from './finding.js';

const writes: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'merge', 'replace']);

/** A finding and the run it comes from; the run's operations name statements of the program. */
export interface FindingInRun {
  readonly finding: Finding;
  readonly history: History;
}

/** Of another run's findings the one about the same matter; undefined: none is. */
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
