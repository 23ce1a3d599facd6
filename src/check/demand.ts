/** What a history is held to, as a person asks for it: a level of the lattice, a contract, or both. */
import {
  type Contract,
  contractFor,
  contracts,
  contractsOf,
  findContract,
  type Level,
  parseLevel,
} from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type CheckLevel, parseCheckLevel } from './levels.js';

export interface Demand {
  readonly level?: CheckLevel;
  readonly contract?: Contract;
  /** Levels mean what Adya's theory means by them. */
  readonly definitions?: 'adya';
}

/** Reads `vendor:NAME`, `adya`, `ansi` or a contract's full name, with the level that picks among a vendor's. */
export function parseDemand(level: string | undefined, contract: string | undefined): Demand {
  const checkLevel = level === undefined ? {} : { level: parseCheckLevel(level) };
  if (contract === undefined) return checkLevel;
  const name = contract.replace(/^vendor:/, '');
  const whole = findContract(name) ?? contracts.find(({ id }) => id.toLowerCase() === name.toLowerCase());
  if (whole !== undefined) return { contract: whole };
  if (name.toLowerCase() === 'adya') return { ...checkLevel, definitions: 'adya' };
  const owned = contractsOf(name.toLowerCase());
  if (owned.length === 0) {
    const owners = [...new Set(contracts.map(({ owner }) => owner))];
    throw new IsoldeError(
      'usage',
      `there are no contracts of "${contract}"; there are those of ${owners.join(', ')}`,
    );
  }
  const sessionLevel = level === undefined ? undefined : parseLevel(level);
  const found = sessionLevel === undefined ? undefined : pick(name.toLowerCase(), sessionLevel);
  if (found !== undefined) return { contract: found };
  const ids = owned.map(({ id }) => id).join(', ');
  throw new IsoldeError('usage', `${name} has several contracts; add --level, or name one: ${ids}`);
}

function pick(owner: string, level: Level): Contract | undefined {
  return contractFor(owner, level) ?? contractsOf(owner).find((each) => each.level === level);
}
