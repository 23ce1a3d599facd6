import { type Contract, contractFor, findContract, type Level } from '../contracts/index.js';
import type { TargetStamp } from '../histories/index.js';

/** The contract that says how the engine works: the one named, or the vendor's where that says nothing of it. */
export function mechanismOf({
  contract,
  target,
  level,
}: {
  readonly contract?: string | undefined;
  readonly target: TargetStamp;
  readonly level: Level;
}): Contract | undefined {
  const named = contract === undefined ? undefined : findContract(contract);
  if (named?.mechanism !== undefined) return named;
  const vendors = contractFor(target.name, level, target.settings);
  return vendors?.mechanism === undefined ? undefined : vendors;
}
