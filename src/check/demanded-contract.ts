/**
 * Which contract a recorded SQL history is held to: the one that was asked for, or the vendor's for what the history says ran it. Where
 * the history leaves open which of several that is, they are named.
 */
import {
  type Contract,
  clusterSetting,
  contractFor,
  contractsOf,
  engineSetting,
  type Level,
  noContractFor,
  parseLevel,
} from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { HistoryHeader } from '../histories/index.js';
import type { Demand } from './demand.js';

/** The contract asked for, or the vendor's for what the history says ran it. */
export function demandedContract(header: HistoryHeader, demand: Demand): Contract {
  if (demand.definitions !== undefined) {
    throw new IsoldeError(
      'usage',
      'a history of SQL statements is held to how a vendor’s engine works; what theory forbids shows in instrumented runs: isolde hunt URL --contract adya',
    );
  }
  if (demand.contract !== undefined) return demand.contract;
  const owner = header.target?.name;
  const level = (demand.level === undefined ? undefined : parseLevel(demand.level)) ?? header.level;
  const found =
    owner === undefined || level === undefined
      ? undefined
      : contractFor(owner, level, header.target?.settings);
  if (found !== undefined) return found;
  const known = owner === undefined ? 'no database' : `${owner} at ${level ?? 'no level'}`;
  const settings = header.target?.settings;
  if (owner !== undefined && level !== undefined && settings?.[engineSetting] !== undefined)
    throw new IsoldeError('usage', `${noContractFor(owner, level, settings)}; name one with --contract`);
  const fitting = owner === undefined ? [] : contractsOf(owner).filter((each) => leavesOpen(each, level));
  if (level !== undefined && fitting.length > 0)
    throw new IsoldeError(
      'usage',
      `the history names ${known}, but not ${namesOfSettings(fitting)}; name the contract: ${fitting.map(described).join(' or ')}`,
    );
  throw new IsoldeError(
    'usage',
    `the history names ${known}, for which there is no contract; name one with --contract, such as --contract postgres:repeatable-read`,
  );
}

/** Whether a contract of a single server holds only with settings, which the history does not tell. */
function leavesOpen({ level, extends: plain, settings }: Contract, asked: Level | undefined): boolean {
  const names = Object.keys(settings ?? {});
  const elsewhere = names.some((name) => name === engineSetting || name === clusterSetting);
  return level === asked && plain === undefined && names.length > 0 && !elsewhere;
}

function namesOfSettings(contracts: readonly Contract[]): string {
  return [...new Set(contracts.flatMap(({ settings }) => Object.keys(settings ?? {})))].join(' or ');
}

function described({ id, settings = {} }: Contract): string {
  const values = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `--contract ${id} (${values.join(', ')})`;
}
