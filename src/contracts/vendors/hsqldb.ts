/**
 * HSQLDB (HyperSQL), in its three transaction models.
 *
 * LOCKS is two-phase locking of whole tables: a statement locks all the tables it uses before it begins. At READ COMMITTED the locks for
 * reading end with the statement, at SERIALIZABLE with the transaction; REPEATABLE READ is SERIALIZABLE. MVLOCKS is the same for transactions
 * that write; those declared READ ONLY read a snapshot, which these contracts say nothing of. MVCC has locks on rows and none for reading:
 * READ COMMITTED reads what is committed when the statement begins and waits for other writers, REPEATABLE READ and SERIALIZABLE both are
 * snapshot isolation, where the second writer of a row fails, also while the first is uncommitted.
 */
import { everyAnomaly, snapshotIsolation, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';
import type { Level } from '../level.js';

const guide = 'https://hsqldb.org/doc/2.0/guide/sessions-chapt.html';
const section =
  (title: string) =>
  (...clauses: readonly string[]) =>
    cite(`HSQLDB, Sessions and Transactions: ${title}`, guide, ...clauses);
const everything = [
  'protocol',
  'pivot',
  'writesSee',
  'writeConflict',
  'readsLock',
  'firstUpdaterWins',
  'certifier',
  'forbids',
];
const common = [
  ...section('Overview')('ownWrites'),
  ...cite(
    'HSQLDB, Data Access and Change: Cursor Declaration',
    'https://hsqldb.org/doc/2.0/guide/dataaccess-chapt.html',
    'lockingReadsSee',
  ),
];

const readCommitted: Mechanism = {
  protocol: 'locking',
  pivot: 'statement',
  writesSee: 'current',
  lockingReadsSee: 'unsupported',
  ownWrites: true,
  writeConflict: 'waits',
  readsLock: false,
  firstUpdaterWins: false,
  certifier: 'none',
};
const tableLocks: Mechanism = { ...readCommitted, locksTables: true };
const twoPhase: Mechanism = { ...tableLocks, readsLock: true, certifier: 'two-phase-locking' };
const snapshot: Mechanism = {
  ...readCommitted,
  pivot: 'first-statement',
  writesSee: 'snapshot',
  writeConflict: 'fails',
  firstUpdaterWins: true,
};

const models = [
  { model: 'locks', title: 'Two Phase Locking' },
  { model: 'mvlocks', title: 'Two Phase Locking with Snapshot Isolation' },
  { model: 'mvcc', title: 'MVCC' },
] as const;

export const hsqldbContracts: readonly Contract[] = models.flatMap(({ model, title }) => {
  const contract = (
    level: Level,
    mechanism: Mechanism,
    forbids: Contract['forbids'],
    note = '',
  ): Contract => ({
    id: `hsqldb:${level.replace(' ', '-')}+${model}`,
    kind: 'vendor',
    title: `HSQLDB, ${level.toUpperCase()} with ${model.toUpperCase()}${note}`,
    owner: 'hsqldb',
    level,
    settings: { 'hsqldb.tx': model },
    mechanism,
    forbids,
    sources: [
      ...section(title)(...everything, ...(mechanism.locksTables === true ? ['locksTables'] : [])),
      ...common,
    ],
  });
  const strong = model === 'mvcc' ? snapshot : twoPhase;
  const promised = model === 'mvcc' ? snapshotIsolation : everyAnomaly;
  const note = model === 'mvcc' ? ' (snapshot isolation)' : '';
  return [
    contract('read committed', model === 'mvcc' ? readCommitted : tableLocks, statementSnapshots),
    contract('repeatable read', strong, promised, note),
    contract('serializable', strong, promised, note),
  ];
});
