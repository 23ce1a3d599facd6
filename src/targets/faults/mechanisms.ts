/** The faults by name: what each does to a statement, and which engines have nothing for it to break. */
import { findContract } from '../../contracts/index.js';
import type { Answer, Target } from '../target.js';
import { resurrectedRow, visibleCommittedDelete } from './delete-faults.js';
import {
  commitOnRollback,
  failureEndsTransaction,
  partialCommit,
  unreportedWriteConflict,
} from './end-faults.js';
import type { FaultName } from './fault-spec.js';
import { automaticKeyReused, duplicateKeyAccepted, keyOfUncommittedDelete } from './key-faults.js';
import { alteredCommit, misfoldedExpression, mixedSnapshot, staleIndex } from './query-faults.js';
import {
  dirtyRead,
  indexPastSnapshot,
  missedOwnWrite,
  phantomInSnapshot,
  renewOldSnapshot,
  snapshotProblem,
  staleSnapshot,
} from './read-faults.js';
import { lateSnapshot, weakerLevel } from './snapshot-faults.js';
import type { Mechanism, SessionInFault } from './turn.js';
import {
  lostInsert,
  lostUpdate,
  missedOwnNoopWrite,
  splitPredicate,
  staleReevaluation,
  strippedRowLock,
} from './write-faults.js';

export interface Fault {
  readonly execute: Mechanism;
  /** Runs for each session when it is opened and when the scratch was reset. */
  readonly afterReset?: (session: SessionInFault) => Promise<void>;
  readonly afterStatement?: (session: SessionInFault, answer: Answer) => Promise<void>;
  readonly unfit?: (target: Target) => string | undefined;
}

export const mechanisms: Readonly<Record<FaultName, Fault>> = {
  'weaker-level': { execute: weakerLevel },
  'stale-snapshot': {
    execute: staleSnapshot,
    afterReset: renewOldSnapshot,
    afterStatement: async (session, answer) => {
      if (answer.transaction === 'none') await renewOldSnapshot(session);
    },
    unfit: snapshotProblem,
  },
  'late-snapshot': { execute: lateSnapshot },
  'dirty-read': { execute: dirtyRead },
  'missed-own-write': { execute: missedOwnWrite, unfit: snapshotProblem },
  'missed-own-noop-write': { execute: missedOwnNoopWrite },
  'lost-update': { execute: lostUpdate },
  'lost-insert': { execute: lostInsert },
  'commit-on-rollback': { execute: commitOnRollback },
  'partial-commit': { execute: partialCommit },
  'stripped-row-lock': {
    execute: strippedRowLock,
    unfit: (target) => (target.features.lockingReads ? undefined : 'it has no SELECT … FOR UPDATE'),
  },
  'unreported-write-conflict': { execute: unreportedWriteConflict },
  'visible-committed-delete': { execute: visibleCommittedDelete },
  'resurrected-row': { execute: resurrectedRow },
  'phantom-in-snapshot': { execute: phantomInSnapshot },
  'split-predicate': { execute: splitPredicate },
  'duplicate-key-accepted': { execute: duplicateKeyAccepted },
  'key-of-uncommitted-delete': { execute: keyOfUncommittedDelete },
  'automatic-key-reused': {
    execute: automaticKeyReused,
    unfit: ({ dialect }) => (dialect === 'duckdb' ? 'it gives no keys by itself' : undefined),
  },
  'failure-ends-transaction': { execute: failureEndsTransaction },
  'stale-reevaluation': {
    execute: staleReevaluation,
    unfit: (target) => (waitsForWriters(target) ? undefined : 'a write that meets another one does not wait'),
  },
  'index-past-snapshot': { execute: indexPastSnapshot },
  'missed-certification': { execute: weakerLevel },
  'mixed-snapshot': { execute: mixedSnapshot },
  'stale-index': { execute: staleIndex, unfit: snapshotProblem },
  'misfolded-expression': { execute: misfoldedExpression },
  'altered-commit': { execute: alteredCommit },
};

function waitsForWriters({ levels }: Target): boolean {
  return levels.some(({ contract }) => findContract(contract)?.mechanism?.writeConflict === 'waits');
}
