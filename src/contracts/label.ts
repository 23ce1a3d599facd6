/**
 * What a finding claims against whom. A maintainer triages by it, `hunt` takes its exit code from it: only a broken manual is
 * the vendor's broken word.
 */
import { findContract, reportsOf } from './table.js';

export type FindingLabel = 'breaks-manual' | 'reported' | 'theory';

export const findingLabels = ['breaks-manual', 'reported', 'theory'] as const satisfies FindingLabel[];

const words: Readonly<Record<FindingLabel, string>> = {
  'breaks-manual': 'breaks the manual',
  reported: 'reported elsewhere, the manual leaves room',
  theory: 'theory only',
};

/** What it is called where people read it. */
export function describeLabel(label: FindingLabel): string {
  return words[label];
}

/** The claim of a finding in words; where Isolde itself broke the database, that is no claim against the vendor. */
export function describeClaim(
  found: Parameters<typeof labelOf>[0] & {
    readonly target?: { readonly settings?: Readonly<Record<string, string>> | undefined } | undefined;
  },
): string {
  const claim = describeLabel(labelOf(found));
  return found.target?.settings?.fault === undefined ? claim : `${claim}, by an injected fault`;
}

/** The label of a finding; one that names no contract (a crash) breaks every manual. */
export function labelOf({
  contract: id,
  clause,
}: {
  readonly contract?: string | undefined;
  readonly clause?: string | undefined;
}): FindingLabel {
  const contract = id === undefined ? undefined : findContract(id);
  if (contract === undefined) return 'breaks-manual';
  if (contract.kind === 'theory') return 'theory';
  return clause !== undefined && reportsOf(contract, clause).length > 0 ? 'reported' : 'breaks-manual';
}
