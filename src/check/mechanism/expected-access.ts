/**
 * Expected access behaviour (Pisco §6.2.1): for each operation of a history, the version of each row it should have met
 * under a contract, beside the one it did meet.
 *
 * The rule is the contract's: the newest version before the *pivot operation*, which is the transaction's BEGIN, its first
 * statement, its first plain read, or the operation itself (committed versions, or all). The versions are the verifier's own
 * (`row-chain.ts`): nothing is computed here, only written down as it judges. Where times leave several versions possible,
 * all of them are expected; where the verifier cannot judge, the step says why and expects nothing.
 *
 * An *actual* version is named where the answer shows the row. A write shows only how many rows it matched, so its rows have what they
 * should have held before, and the values they were given.
 */
import { type Contract, contractForTables, type Pivot, pivots } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import type { History } from '../../histories/index.js';
import { withCatalog } from '../../rows/index.js';
import { AccessRecorder, idleStep } from './access-recorder.js';
import type { ExpectedAccess } from './access-step.js';
import { Verifier } from './verifier.js';

/**
 * What each operation should have met. `pivot`: instead of the contract’s own.
 *
 * @example
 * const { steps } = expectedAccess(history, findContract('postgres:repeatable-read')!);
 * const wrong = steps.filter(({ rows }) => rows.some(({ agrees }) => agrees === false));
 */
export function expectedAccess(
  history: History,
  given: Contract,
  options: { readonly pivot?: Pivot } = {},
): ExpectedAccess {
  const found = contractForTables(given, history.header.setup ?? [], history.header.target?.settings);
  const known = 'unjudged' in found ? given : found.contract;
  if (known.mechanism === undefined)
    throw new IsoldeError(
      'usage',
      `the contract ${known.id} does not say how an engine works; choose a vendor's contract`,
    );
  const pivot = options.pivot ?? known.mechanism.pivot;
  const contract = { ...known, mechanism: { ...known.mechanism, pivot } };
  if ('unjudged' in found)
    return {
      contract: contract.id,
      pivot,
      steps: history.operations.map((each) => idleStep(each, found.unjudged)),
    };
  const steps = withCatalog(history, {}, (catalog) => {
    const recorder = new AccessRecorder(history);
    const { findings } = new Verifier(history, contract, catalog, recorder).run();
    for (const { kind, operations } of findings)
      if (operations[0] !== undefined) recorder.blame(operations[0].index, kind);
    return recorder.steps();
  });
  return { contract: contract.id, pivot, steps };
}

/** The same under each of the five pivots, whatever the contract’s own is. */
export function expectedUnderPivots(history: History, contract: Contract): readonly ExpectedAccess[] {
  return pivots.map((pivot) => expectedAccess(history, contract, { pivot }));
}
