/**
 * Which promise a database is held to: what its vendor promises at a level, unless another contract is chosen.
 *
 * A hunt adds what was reported beyond the manual, where there is such a contract: it looks for what is worth a report
 * (`docs/decisions/reported-contracts.md`). `vendor` is the manual alone.
 */
import {
  type Contract,
  contracts,
  findContract,
  type Level,
  noContractFor,
  reportedContract,
} from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { Target } from '../targets/index.js';

/** Adya's level for what a session's level is called. */
const adyaNames: Readonly<Record<Level, string>> = {
  'read uncommitted': 'adya:PL-1',
  'read committed': 'adya:PL-2',
  'repeatable read': 'adya:PL-2.99',
  snapshot: 'adya:PL-SI',
  serializable: 'adya:PL-3',
};

/** `reported`, `vendor`, `adya`, `ansi`, or the id of a contract. */
export type ContractChoice = string;

/** What a hunt takes when nothing was chosen. */
export const usualChoice: ContractChoice = 'reported';

/** The contract that is checked at a level. */
export function contractAt(choice: ContractChoice, target: Target, level: Level): Contract {
  const ids = new Map([
    ['reported', reportedId(target, level)],
    ['vendor', vendorId(target, level)],
    ['adya', adyaNames[level]],
    ['ansi', `ansi:${level.replaceAll(' ', '-')}`],
  ]);
  const id = ids.get(choice);
  const contract = findContract(id ?? choice);
  if (contract !== undefined) return contract;
  if (choice === 'adya' || choice === 'ansi')
    throw new IsoldeError('usage', `there is no ${choice} contract of ${level}`);
  if (id !== undefined) {
    throw new IsoldeError('usage', `${missing(target, level)}; hold it to a theory with --contract adya`);
  }
  const known = contracts.map((each) => each.id).join(', ');
  throw new IsoldeError(
    'usage',
    `no contract is called "${choice}"; there are reported, vendor, adya, ansi, ${known}`,
  );
}

/** What the vendor promises at a level; a usage error if nobody wrote that down. */
export function vendorContractAt(target: Target, level: Level): Contract {
  const contract = vendorContract(target, level);
  if (contract !== undefined) return contract;
  throw new IsoldeError('usage', `${missing(target, level)}; name one with --contract`);
}

function missing({ name, stamp }: Target, level: Level): string {
  return noContractFor(name, level, stamp.settings);
}

/** How the engine works at a level, whatever it is held to; undefined: nobody wrote that down. */
export function vendorContract(target: Target, level: Level): Contract | undefined {
  return findContract(vendorId(target, level));
}

/** The vendor's contract with reported defects, or plain where none were. */
function reportedId(target: Target, level: Level): string {
  const plain = vendorContract(target, level);
  return (plain && reportedContract(plain)?.id) ?? vendorId(target, level);
}

function vendorId(target: Target, level: Level): string {
  return target.levels.find((offered) => offered.level === level)?.contract ?? `${target.name} at ${level}`;
}
