/**
 * DuckDB: snapshot isolation by MVCC, the only level it has. The snapshot is taken by the first statement after
 * BEGIN. The second of two transactions that edit a row gets a conflict error at once; inserts never conflict. The page on
 * concurrency speaks of rows: transactions that update or delete the same row at the same time conflict. So two updates of
 * different columns of one row have to conflict as well, and one that succeeds breaks the contract.
 */
import { snapshotIsolation } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract } from '../contract.js';

export const duckdbContracts: readonly Contract[] = [
  {
    id: 'duckdb:snapshot',
    kind: 'vendor',
    title: 'DuckDB, snapshot isolation',
    owner: 'duckdb',
    level: 'snapshot',
    mechanism: {
      protocol: 'optimistic',
      pivot: 'first-statement',
      writesSee: 'snapshot',
      lockingReadsSee: 'unsupported',
      ownWrites: true,
      writeConflict: 'fails',
      readsLock: false,
      firstUpdaterWins: true,
      certifier: 'none',
    },
    forbids: snapshotIsolation,
    sources: [
      ...cite(
        'DuckDB, Concurrency: Concurrency within a Single Process',
        'https://duckdb.org/docs/stable/connect/concurrency#concurrency-model-within-a-single-process',
        'protocol',
        'writeConflict',
        'firstUpdaterWins',
        'readsLock',
        'writesSee',
        'forbids',
      ),
      ...cite(
        'DuckDB, Transaction Management',
        'https://duckdb.org/docs/stable/sql/statements/transactions',
        'ownWrites',
        'forbids',
      ),
      ...cite(
        'MotherDuck, Isolation level: DuckDB’s Isolation Level',
        'https://motherduck.com/glossary/isolation-level/',
        'pivot',
        'certifier',
        'forbids',
      ),
      ...cite(
        'DuckDB, SELECT Statement',
        'https://duckdb.org/docs/stable/sql/statements/select',
        'lockingReadsSee',
      ),
    ],
  },
];
