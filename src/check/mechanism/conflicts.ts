/**
 * What a write was not allowed to do: take a row another transaction holds, change a row that changed after its snapshot
 * (first updater wins), or touch other rows than its condition selects.
 */

import type { OperationId } from '../../ids.js';
import {
  type ChangePlan,
  hasSnapshot,
  type Image,
  intervalOf,
  type LockMode,
  type Tx,
  undoneOperations,
} from '../../rows/index.js';
import { counted } from '../../words.js';
import { at, during, joined, ofData, ofOperation, ofRow, type Phrase, phrase, say } from '../explanation.js';
import type { Write } from './followed-write.js';
import { hasWritten, mayBeEqual } from './idle-writes.js';
import { grantLock, mayLockNothing } from './locks.js';
import type { Outlook } from './outlook.js';
import { describeSource, makeFinding, observe, ofTx, ofVersion } from './prose.js';
import { imagesOf, imagesOfAll, type RowChain, type Version } from './row-chain.js';
import type { Verification } from './verification.js';

/** Grants a row lock; reports the holder that should have kept it out. True: there was none. */
export function checkLock(
  verification: Verification,
  { tx, operation }: Pick<Write, 'tx' | 'operation'>,
  row: RowChain,
  mode: LockMode,
): boolean {
  const mechanism = tx.contract?.mechanism;
  if (mechanism === undefined || tx.unjudged !== undefined || mechanism.writeConflict === 'none') return true;
  if (mayLockNothing(tx, operation)) return true;
  verification.tally.locks++;
  const conflict = grantLock(row.locks, tx, operation, mode);
  if (conflict === undefined) return true;
  const { owner: holder, operation: heldBy, mode: heldMode } = conflict;
  if (mechanism.writeConflict === 'fails' && mayBeUnchanged(verification, row, holder)) {
    // What left no version hides nothing when its transaction commits later.
    Object.assign(row.own(holder)!, { certain: false, met: false });
    return true;
  }
  const contract = tx.contract!;
  const effect = mechanism.writeConflict === 'waits' ? 'waits until the first has ended' : 'fails';
  const byRead = heldBy.kind === 'select' && mechanism.readsLock;
  verification.findings.push(
    makeFinding(verification.history, verification.txs, {
      kind: 'lock-violated',
      clause: byRead ? 'readsLock true' : `writeConflict ${mechanism.writeConflict}`,
      contract,
      operations: [operation.index, heldBy.index, holder.last.index],
      txs: [tx, holder],
      versions: [
        {
          operation: operation.index,
          object: row.object,
          seen: { as: 'lock', mode },
          allowed: [{ as: mechanism.writeConflict === 'waits' ? 'wait' : 'conflict-error' }],
        },
      ],
      steps: [
        say.fact`${ofTx(holder)} locked ${ofRow(row.object)} (${heldMode}) with ${ofOperation(heldBy)}${heldBy.end === null ? [] : at(heldBy.end)}.`,
        say.rule`Under ${contract.id} it keeps that lock until it ends.`,
        say.rule`A second transaction that needs the row (${mode}) meanwhile ${effect}, whichever columns each of them changes${describeSource(contract, byRead ? 'readsLock' : 'writeConflict')}.`,
        say.contradiction`However, ${ofTx(tx)} ran ${ofOperation(operation)}${during(intervalOf(operation))}, while ${ofTx(holder)} was still open${during({ start: heldBy.end ?? heldBy.start, end: holder.holdsLocksUntil })}, and was granted the row.`,
      ],
    }),
  );
  return false;
}

/**
 * Whether a holder's writes may have left the row as it was. Engines that fail at once find the first writer by the version
 * it left, and an update to the same values leaves none in some of them (DuckDB).
 */
function mayBeUnchanged(verification: Verification, row: RowChain, holder: Tx): boolean {
  const own = row.own(holder);
  if (own === undefined || holder.snapshot === undefined) return false;
  const view = { span: holder.snapshot, current: false, dirty: false };
  const others = row.allowed(view, undefined, verification.exclusive).filter((version) => version !== own);
  return !certainlyDiffer(imagesOfAll(others, view), imagesOf(own));
}

/** A row that certainly changed after the snapshot and before the write cannot be written. True: it did not. */
export function checkFirstUpdaterWins(
  verification: Verification,
  { tx, operation }: Write,
  outlook: Outlook,
): boolean {
  const { row } = outlook;
  const mechanism = tx.contract?.mechanism;
  if (mechanism?.firstUpdaterWins !== true || tx.unjudged !== undefined || hasWritten(outlook)) return true;
  // A snapshot that may move on has moved past the change, unless it had read what changed: that is the certifier's to find.
  if (mechanism.snapshotMoves === true) return true;
  const { snapshot } = tx;
  if (snapshot === undefined || !hasSnapshot(mechanism) || snapshot.start > operation.start) return true;
  // Validation at commit looks at everything up to the commit, and only judges those that passed it.
  const atCommit = mechanism.writeConflict === 'none';
  if (atCommit && tx.fate !== 'committed') return true;
  const deadline = atCommit ? tx.commit.start : operation.start;
  const changed = row.versions.find(
    (version) =>
      version.tx !== undefined &&
      version.tx !== tx &&
      version.tx.fate === 'committed' &&
      version.certain &&
      version.commit.start > snapshot.end &&
      (version.commit.end < deadline || (!atCommit && heldBefore(version, operation))) &&
      reallyChanged(verification, row, version, tx),
  );
  if (changed === undefined) return true;
  const early = changed.commit.end < operation.start;
  if (!early && isTakenBack(verification, [operation.index, ...changed.states.map((each) => each.operation)]))
    return true;
  const contract = tx.contract!;
  verification.findings.push(
    makeFinding(verification.history, verification.txs, {
      kind: 'update-of-changed-row',
      clause: 'firstUpdaterWins true',
      contract,
      operations: [
        operation.index,
        tx.snapshotBy?.index,
        changed.states.at(-1)!.operation,
        changed.tx!.last.index,
      ],
      txs: [tx, changed.tx],
      versions: [
        {
          operation: operation.index,
          object: row.object,
          seen: { as: 'written' },
          allowed: [{ as: 'conflict-error' }],
        },
      ],
      steps: [
        say.fact`${ofTx(tx)} took its snapshot${during(snapshot)}${tx.snapshotBy === undefined ? [] : phrase` with ${ofOperation(tx.snapshotBy)}`}.`,
        say.fact`After that, ${ofRow(row.object)} became ${ofVersion(changed)}.`,
        say.rule`Under ${contract.id} writing a row that changed after the snapshot fails${describeSource(contract, 'firstUpdaterWins')}.`,
        say.contradiction`However, ${ofTx(tx)} then wrote ${ofRow(row.object)} with ${ofOperation(operation)}, and it succeeded.`,
      ],
    }),
  );
  return false;
}

/**
 * Whoever had written the row before this statement was sent holds it until it ends, so the statement comes after that. Where it was
 * answered before, the lock was not kept, which is another matter (`checkLock`).
 */
function heldBefore({ states, commit }: Version, operation: Write['operation']): boolean {
  const { start, end } = intervalOf(operation);
  return end >= commit.start && states.some((state) => state.certain && state.span.end < start);
}

/** What a later ROLLBACK TO took back is not there any more when a commit is validated, and its lock may be free before. */
function isTakenBack({ history }: Verification, operations: readonly OperationId[]): boolean {
  const undone = undoneOperations(history, history.header.dialect ?? 'mysql');
  return operations.some((each) => undone.has(each));
}

/** An update that leaves a row as it was makes no new version in some engines. */
function reallyChanged(verification: Verification, row: RowChain, version: Version, tx: Tx): boolean {
  const view = { span: tx.snapshot!, current: false, dirty: false };
  const before = row
    .allowed(view, undefined, verification.exclusive)
    .filter((other) => other !== version && other.tx !== tx);
  return certainlyDiffer(imagesOfAll(before, view), imagesOf(version));
}

function certainlyDiffer(before: readonly Image[], after: readonly Image[]): boolean {
  return before.length === 1 && after.length === 1 && !mayBeEqual(before[0]!, after[0]!);
}

/** A write whose count of rows does not fit what its condition selects. */
export function reportCount(
  verification: Verification,
  { tx, operation, view }: Write,
  plan: ChangePlan,
  { certain, doubtful }: { readonly certain: readonly Outlook[]; readonly doubtful: readonly Outlook[] },
): void {
  const contract = tx.contract!;
  const mechanism = contract.mechanism!;
  const matched = operation.matched!;
  const missed = matched < certain.length;
  const expected =
    doubtful.length === 0 ? `${certain.length}` : `${certain.length} to ${certain.length + doubtful.length}`;
  const sees = view.current ? 'the newest committed rows' : 'its transaction’s snapshot';
  const witnesses = [...certain, ...doubtful].slice(0, 5);
  verification.findings.push(
    makeFinding(verification.history, verification.txs, {
      kind: missed ? 'write-missed-row' : 'write-extra-row',
      clause: `writesSee ${mechanism.writesSee}`,
      contract,
      operations: [
        operation.index,
        ...witnesses.flatMap(({ versions }) => versions.map((version) => version.states.at(-1)!.operation)),
        tx.snapshotBy?.index,
      ],
      txs: [tx, ...witnesses.flatMap(({ versions }) => versions.map((version) => version.tx))],
      versions: witnesses.map(({ row, images }) => ({
        operation: operation.index,
        object: row.object,
        seen: { as: 'matched', count: matched },
        allowed: images.map(observe),
      })),
      steps: [
        say.ran`${ofTx(tx)} ran ${ofOperation(operation)}, which reported ${counted(matched, 'row')}.`,
        say.rule`Under ${contract.id} it looks for rows in ${sees}, and in what it wrote itself.`,
        say.allowed`There its condition selects ${counted(expected, 'row')} of ${ofData(plan.table.name)}${selected(witnesses)}.`,
        say.contradiction`However, ${matched} is ${missed ? 'fewer' : 'more'} than that.`,
      ],
    }),
  );
}

/** `: t/1 is (1, 10) from the initial state; …`. */
function selected(rows: readonly Outlook[]): Phrase {
  if (rows.length === 0) return [];
  const each = rows.map(({ row, versions }) => {
    return phrase`${ofRow(row.object)} is ${joined(versions.map(ofVersion), ' or ')}`;
  });
  return phrase`: ${joined(each, '; ')}`;
}
