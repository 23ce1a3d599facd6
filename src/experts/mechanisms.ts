/**
 * The four experts. Each knows one of the mechanisms by which engines implement isolation levels (Leopard’s four), as this engine has it at
 * this level: a description, an example and pseudo-code, all derived from the contract.
 */
import type { Contract, Mechanism } from '../contracts/index.js';

export const expertNames = [
  'consistent-read',
  'mutual-exclusion',
  'first-updater-wins',
  'serialization-certifier',
] as const;
export type ExpertName = (typeof expertNames)[number];

export interface Expertise {
  readonly name: ExpertName;
  readonly description: string;
  readonly example: string;
  readonly code: string;
}

const pivotWords: Readonly<Record<Mechanism['pivot'], string>> = {
  begin: 'what was committed when its transaction began',
  'first-statement': 'what was committed when the first statement of its transaction ran',
  'first-read': 'what was committed when the first plain read of its transaction ran',
  statement: 'what was committed when the read itself began',
  uncommitted: 'the newest value, committed or not',
};

/** Without a contract the experts know the mechanisms in general only. */
export function expertiseFor(contract: Contract | undefined): readonly Expertise[] {
  const mechanism = contract?.mechanism;
  const place =
    contract === undefined
      ? 'The engine is not described here.'
      : `This is about ${contract.owner} at ${contract.level}.`;
  return [
    consistentRead(mechanism, place),
    mutualExclusion(mechanism, place),
    firstUpdaterWins(mechanism, place),
    certifier(mechanism, place),
  ];
}

function consistentRead(mechanism: Mechanism | undefined, place: string): Expertise {
  const sees = mechanism === undefined ? 'one snapshot' : pivotWords[mechanism.pivot];
  const writes =
    mechanism?.writesSee === 'current' ? 'Writes look for their rows among the newest committed ones.' : '';
  return {
    name: 'consistent-read',
    description: `Consistent read decides which version of a row a read returns. A plain read sees ${sees}, and on top of that what its own transaction wrote. ${writes} ${place}`,
    example: [
      'x is 1.',
      '1. T1 begins and reads x: 1.',
      '2. T2 sets x to 2 and commits.',
      mechanism?.pivot === 'statement'
        ? '3. T1 reads x again: 2, because each statement sees what is committed by then.'
        : '3. T1 reads x again: 1, because its snapshot is older than the commit of T2.',
      '4. T1 sets x to 5 and reads x: 5, its own write.',
    ].join('\n'),
    code: [
      'read(row, transaction):',
      '  if transaction wrote row: return its last own version',
      `  moment = ${mechanism?.pivot ?? 'snapshot'} of transaction`,
      '  for version in versions(row), newest first:',
      mechanism?.pivot === 'uncommitted'
        ? '    return version'
        : '    if version is committed before moment: return version',
      '  return no row',
    ].join('\n'),
  };
}

function mutualExclusion(mechanism: Mechanism | undefined, place: string): Expertise {
  const second =
    mechanism?.writeConflict === 'fails'
      ? 'fails at once'
      : mechanism?.writeConflict === 'none'
        ? 'goes on'
        : 'waits until the first has ended';
  const reads =
    mechanism?.readsLock === true ? 'Plain reads lock what they read.' : 'Plain reads take no locks.';
  return {
    name: 'mutual-exclusion',
    description: `Mutual exclusion keeps two transactions from changing one row at the same time. A second writer of a row that an open transaction has changed or locked ${second}. ${reads} ${place}`,
    example: [
      '1. T1 changes row x and stays open.',
      `2. T2 changes row x: it ${second}.`,
      '3. T1 commits; its locks end.',
    ].join('\n'),
    code: [
      'write(row, transaction):',
      '  if another open transaction holds a lock on row:',
      mechanism?.writeConflict === 'fails' ? '    raise conflict' : '    wait for its end',
      '  lock row until transaction ends',
      '  add version',
    ].join('\n'),
  };
}

function firstUpdaterWins(mechanism: Mechanism | undefined, place: string): Expertise {
  const has = mechanism?.firstUpdaterWins === true;
  return {
    name: 'first-updater-wins',
    description: `First updater wins keeps a transaction from overwriting what it has not seen. ${
      has
        ? 'Writing a row that another transaction changed and committed after one’s snapshot fails with a serialization error.'
        : 'This level does not have it: a write acts on the newest committed row, although the snapshot is older.'
    } ${place}`,
    example: [
      '1. T1 reads x: 1.',
      '2. T2 sets x to 2 and commits.',
      has
        ? '3. T1 sets x to 3: it fails, because x changed since its snapshot.'
        : '3. T1 sets x to 3: it succeeds.',
    ].join('\n'),
    code: has
      ? [
          'write(row, transaction):',
          '  if newest committed version of row is younger than snapshot of transaction:',
          '    raise serialization error',
          '  add version',
        ].join('\n')
      : ['write(row, transaction):', '  add version on top of the newest committed one'].join('\n'),
  };
}

const certifiers: Readonly<Record<Mechanism['certifier'], string>> = {
  none: 'This level has none: write skew and similar cycles are allowed.',
  ssi: 'The engine follows read-write dependencies between concurrent transactions and aborts one that has both an incoming and an outgoing one.',
  'two-phase-locking':
    'Reads and writes lock rows and gaps until the end, so that transactions that depend on each other in a circle deadlock and one is aborted.',
  timestamp:
    'Transactions are ordered by timestamps; one that would read or write against that order is aborted.',
  'serial-execution': 'Writing transactions run one after another.',
};

function certifier(mechanism: Mechanism | undefined, place: string): Expertise {
  return {
    name: 'serialization-certifier',
    description: `A serialization certifier makes the outcome equal to some serial order. ${certifiers[mechanism?.certifier ?? 'none']} ${place}`,
    example: [
      'x and y are 1.',
      '1. T1 reads x and y, T2 reads x and y.',
      '2. T1 sets x to 0, T2 sets y to 0.',
      mechanism?.certifier === undefined || mechanism.certifier === 'none'
        ? '3. Both commit: each missed what the other wrote (write skew).'
        : '3. One of them is aborted: no serial order gives both results.',
    ].join('\n'),
    code: [
      'commit(transaction):',
      '  add its dependencies to the graph',
      mechanism?.certifier === undefined || mechanism.certifier === 'none'
        ? '  (nothing is checked)'
        : '  if the graph has a cycle through it: abort it',
    ].join('\n'),
  };
}
