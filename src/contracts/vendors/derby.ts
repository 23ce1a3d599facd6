/**
 * Derby: locks on rows, no versions. Writers lock rows to the end of the transaction at every level; levels differ in what plain reads
 * lock. READ UNCOMMITTED locks nothing, READ COMMITTED each row only while the statement is at it (so its rows need not belong to one
 * instant), REPEATABLE READ the rows it returns to the end of the transaction, SERIALIZABLE also what lies between them.
 */
import { everyAnomaly, itemLocks, noDirtyData } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, ContractSource, Mechanism } from '../contract.js';

const guide = 'https://db.apache.org/derby/docs/10.16/devguide';

const sources: readonly ContractSource[] = [
  ...cite(
    'Derby Developer’s Guide, Isolation levels and concurrency',
    `${guide}/cdevconcepts15366.html`,
    'pivot',
    'writesSee',
    'certifier',
    'forbids',
  ),
  ...cite(
    'Derby Developer’s Guide, Types and scope of locks in Derby systems',
    `${guide}/cdevconcepts30291.html`,
    'protocol',
    'writeConflict',
    'firstUpdaterWins',
    'ownWrites',
  ),
  ...cite('Derby Developer’s Guide, Scope of locks', `${guide}/rdevconcepts8424.html`, 'readsLock'),
  ...cite(
    'Derby Reference Manual, SELECT statement',
    'https://db.apache.org/derby/docs/10.16/ref/rrefsqlj41360.html',
    'lockingReadsSee',
  ),
];

const readUncommitted: Mechanism = {
  protocol: 'locking',
  pivot: 'uncommitted',
  writesSee: 'current',
  lockingReadsSee: 'unsupported',
  ownWrites: true,
  writeConflict: 'waits',
  readsLock: false,
  firstUpdaterWins: false,
  certifier: 'none',
};
const locked: Mechanism = { ...readUncommitted, pivot: 'statement', readsLock: true };

export const derbyContracts: readonly Contract[] = [
  {
    id: 'derby:read-uncommitted',
    kind: 'vendor',
    title: 'Derby, READ UNCOMMITTED',
    owner: 'derby',
    level: 'read uncommitted',
    mechanism: readUncommitted,
    forbids: ['G0', 'lost-update-expression', 'own-write-missed'],
    sources,
  },
  {
    id: 'derby:read-committed',
    kind: 'vendor',
    title: 'Derby, READ COMMITTED',
    owner: 'derby',
    level: 'read committed',
    mechanism: { ...readUncommitted, pivot: 'statement', readsLockBriefly: true },
    forbids: [...noDirtyData, 'lost-update-expression', 'own-write-missed'],
    sources: [
      ...sources,
      ...cite(
        'Derby Developer’s Guide, Scope of locks',
        `${guide}/rdevconcepts8424.html`,
        'readsLockBriefly',
      ),
    ],
  },
  {
    id: 'derby:repeatable-read',
    kind: 'vendor',
    title: 'Derby, REPEATABLE READ',
    owner: 'derby',
    level: 'repeatable read',
    mechanism: locked,
    forbids: itemLocks,
    sources,
  },
  {
    id: 'derby:serializable',
    kind: 'vendor',
    title: 'Derby, SERIALIZABLE',
    owner: 'derby',
    level: 'serializable',
    mechanism: { ...locked, certifier: 'two-phase-locking', passedRows: 'kept' },
    forbids: everyAnomaly,
    sources: [
      ...sources,
      ...cite('Derby Developer’s Guide, Scope of locks', `${guide}/rdevconcepts8424.html`, 'passedRows'),
    ],
  },
];
