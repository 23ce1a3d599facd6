/**
 * The judge of a reduction: the mechanism verifier under the contract that holds for the target at the history's level,
 * or under one that was asked for.
 */
import { findingIdentity, verifyMechanism } from '../check/index.js';
import { type Contract, findContract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import type { Target } from '../targets/index.js';
import type { Judge } from './database-oracle.js';

export function mechanismJudge(contract?: Contract): Judge {
  return {
    findings: (history, target) => verifyMechanism(history, contract ?? contractOf(history, target)).findings,
    identity: findingIdentity,
  };
}

/** The vendor's contract for the level a history ran at. */
export function contractOf({ header }: History, target: Target): Contract {
  const level = header.level ?? target.defaultLevel;
  const id = target.levels.find((offered) => offered.level === level)?.contract;
  const contract = id === undefined ? undefined : findContract(id);
  if (contract !== undefined) return contract;
  throw new IsoldeError(
    'usage',
    `no contract is known for ${target.name} at ${level}; name one with --contract`,
  );
}
