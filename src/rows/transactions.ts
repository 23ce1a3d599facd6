/**
 * The transactions of a history, as the mirror needs them: when each may have committed, until when its locks are
 * certainly held, and in which span of time its snapshot was taken.
 *
 * Everything here errs on the wide side. A commit whose answer was lost may have happened at any time after it was
 * sent, or never. A transaction that met an error may have lost its locks with it (PostgreSQL aborts at once, although
 * the client has yet to say ROLLBACK), and one whose connection broke may have been rolled back as soon as its last
 * statement was answered.
 *
 * The snapshot's span follows the contract's pivot (`snapshot-rule.ts`). Where a statement may or may not take the snapshot
 * (a SET, a statement that failed), the span reaches from the first that may to the first that certainly does.
 */

import {
  type Contract,
  contractFor,
  engineSetting,
  type Level,
  type Mechanism,
  parseLevel,
  usualEngine,
} from '../contracts/index.js';
import type { HistoryHeader, Operation } from '../histories/index.js';
import type { SessionId, TransactionId } from '../ids.js';
import { chainsOn, type Dialect } from '../sql/index.js';
import { type Interval, intervalOf, never } from './interval.js';
import { changesSession } from './session-settings.js';
import { fixesSnapshot } from './snapshot-rule.js';

export interface Tx {
  readonly id: TransactionId;
  readonly session: SessionId;
  /** Opened by BEGIN, or of several statements; otherwise one autocommitted statement. */
  readonly explicit: boolean;
  readonly start: number;
  readonly fate: 'committed' | 'aborted' | 'unknown';
  /** When it committed, if it did; `never` for one that rolled back. */
  readonly commit: Interval;
  /** When it ended, by whatever means. */
  readonly end: Interval;
  /** Its locks are held for certain up to here. */
  readonly holdsLocksUntil: number;
  /** What its session was promised; undefined: `unjudged` says why nothing is. */
  readonly contract: Contract | undefined;
  readonly unjudged: string | undefined;
  /** Why its statements may do something else than their texts say; undefined: they do not. */
  readonly unsettled: string | undefined;
  /** The span in which its snapshot was taken; undefined: every statement has its own, or none was taken. */
  readonly snapshot: Interval | undefined;
  /** The operation that took the snapshot, for the explanation. */
  readonly snapshotBy: Operation | undefined;
  /** The last of its operations. */
  readonly last: Operation;
}

/** Whether a transaction of this mechanism reads from one snapshot. */
export function hasSnapshot(mechanism: Mechanism): boolean {
  return mechanism.pivot !== 'statement' && mechanism.pivot !== 'uncommitted';
}

/** Every transaction by its number; operations come in the order of their answers. */
export function transactionsOfHistory(
  header: HistoryHeader,
  inOrder: readonly Operation[],
  contract: Contract,
): Map<number, Tx> {
  const groups = new Map<number, Operation[]>();
  const changedLevel = new Map<number, string>();
  const before = new Map<number, Operation>();
  const lastOf = new Map<number, Operation>();
  const reasons = new Map<number, string>();
  const unsettled = new UnsettledSessions(header.dialect);
  for (const operation of inOrder) {
    let group = groups.get(operation.transaction);
    if (group === undefined) {
      group = [];
      groups.set(operation.transaction, group);
      const previous = lastOf.get(operation.session);
      if (previous !== undefined) before.set(operation.transaction, previous);
    }
    group.push(operation);
    lastOf.set(operation.session, operation);
    if (operation.kind === 'set' && changesIsolation(operation.sql ?? '')) {
      changedLevel.set(operation.session, `a statement of its session changes isolation: ${operation.sql}`);
    }
    const reason = changedLevel.get(operation.session);
    if (reason !== undefined) reasons.set(operation.transaction, reason);
    unsettled.look(operation);
  }
  const usual = header.level ?? contract.level;
  const promises = new Map<string, Contract | undefined>();
  // At other levels too, the tables are kept in the engine that the contract given speaks of.
  const settings = {
    ...header.target?.settings,
    [engineSetting]: contract.settings?.[engineSetting] ?? usualEngine,
  };
  const promiseAt = (level: Level | undefined): Contract | undefined => {
    // The contract given is for the level of the run, whatever it calls that level itself.
    if (level === undefined || level === usual) return contract;
    if (!promises.has(level)) promises.set(level, contractFor(contract.owner, level, settings));
    return promises.get(level);
  };
  const result = new Map<number, Tx>();
  const levels = new Map<number, Level | undefined>();
  for (const [id, operations] of groups) {
    const previous = before.get(id);
    const chained = previous !== undefined && previous.kind !== 'begin' && opensAnother(previous);
    const level = chained ? levels.get(previous.transaction) : levelOf(header, operations);
    levels.set(id, level);
    const promised = promiseAt(level);
    const usable = promised?.mechanism === undefined ? undefined : promised;
    const unjudged =
      unsettled.reason(id) ??
      reasons.get(id) ??
      otherMode(operations[0]!, usable) ??
      (usable === undefined ? `no contract of ${contract.owner} says how ${level} works` : undefined);
    const { dialect } = header;
    const source = { operations, before: previous, contract: usable, dialect };
    const tx = makeTx(id, source, unjudged);
    result.set(id, { ...tx, unsettled: unsettled.reason(id) });
  }
  return result;
}

/** Sessions that have changed what their statements mean (`session-settings.ts`), and their transactions from there on. */
class UnsettledSessions {
  readonly #sessions = new Map<SessionId, string>();
  readonly #transactions = new Map<TransactionId, string>();

  constructor(private readonly dialect: Dialect | undefined) {}

  look(operation: Operation): void {
    const { session, transaction } = operation;
    if (changesSession(operation, this.dialect))
      this.#sessions.set(session, `a statement of its session may change what others mean: ${operation.sql}`);
    const reason = this.#sessions.get(session);
    if (reason !== undefined) this.#transactions.set(transaction, reason);
  }

  reason(transaction: TransactionId): string | undefined {
    return this.#transactions.get(transaction);
  }
}

/**
 * Whether another transaction of the session was open as soon as the one that this operation ended was over: AND CHAIN, and BEGIN inside
 * a transaction where that commits what was open.
 */
export function opensAnother({ ends, kind, sql = '' }: Operation): boolean {
  if (ends === undefined) return false;
  return kind === 'begin' || ((kind === 'commit' || kind === 'rollback') && chainsOn(sql));
}

function changesIsolation(sql: string): boolean {
  return /isolation|txn_mode|read_uncommitted|autocommit|snapshot|journal_mode|transaction|foreign_keys|sql_mode/i.test(
    sql,
  );
}

const namedLevel =
  /isolation\s+level\s+(read\s+uncommitted|read\s+committed|repeatable\s+read|snapshot|serializable)\b/i;

/** BEGIN may name a level of its own. */
function levelOf(header: HistoryHeader, operations: readonly Operation[]): Level | undefined {
  const first = operations[0]!;
  const named = first.kind === 'begin' ? namedLevel.exec(first.sql ?? '') : null;
  if (named !== null) return parseLevel(named[1]!);
  return header.sessionLevels?.[String(first.session)] ?? header.level;
}

/** Why a transaction is another one than its level promises: TiDB's BEGIN may choose when rows are locked, and read a state of the past. */
function otherMode({ kind, sql = '' }: Operation, contract: Contract | undefined): string | undefined {
  if (kind !== 'begin') return undefined;
  if (/\bas\s+of\b/i.test(sql)) return 'it reads a state of the past';
  const mode = /\b(optimistic|pessimistic)\b/i.exec(sql)?.[1]?.toLowerCase();
  const usual = contract?.settings?.tidb_txn_mode ?? 'pessimistic';
  return mode === undefined || mode === usual ? undefined : `its BEGIN makes it ${mode}`;
}

/** What a transaction is made from. */
interface TxSource {
  readonly operations: readonly Operation[];
  /** The session's operation before it. */
  readonly before: Operation | undefined;
  readonly contract: Contract | undefined;
  readonly dialect: Dialect | undefined;
}

function makeTx(id: number, source: TxSource, unjudged: string | undefined): Omit<Tx, 'unsettled'> {
  const { operations, contract } = source;
  const first = operations[0]!;
  const last = operations.at(-1)!;
  const explicit = first.kind === 'begin' || operations.length > 1 || last.ends === undefined;
  const ending = endOf(operations, explicit);
  const snapshot = snapshotOf(source, explicit);
  return {
    id,
    session: first.session,
    explicit,
    start: snapshot === undefined ? first.start : Math.min(first.start, snapshot.span.start),
    ...ending,
    contract,
    unjudged,
    snapshot: snapshot?.span,
    snapshotBy: snapshot?.by,
    last,
  };
}

function endOf(
  operations: readonly Operation[],
  explicit: boolean,
): Pick<Tx, 'fate' | 'commit' | 'end' | 'holdsLocksUntil'> {
  const last = operations.at(-1)!;
  const span = intervalOf(last);
  // ROLLBACK TO may free locks taken after its savepoint, in some engines.
  const failed = operations.find(
    (operation) => operation.outcome !== 'ok' || operation.kind === 'rollback-to',
  );
  let holdsLocksUntil = Math.min(span.start, failed?.start ?? span.start);
  if (last.outcome === 'unknown') holdsLocksUntil = operations.at(-2)?.end ?? span.start;
  if (last.ends === 'commit') return { fate: 'committed', commit: span, end: span, holdsLocksUntil };
  const lostAt: Interval = { start: holdsLocksUntil, end: Number.POSITIVE_INFINITY };
  const end = last.ends === undefined || last.outcome === 'unknown' ? lostAt : span;
  const mayCommit = last.ends === 'unknown' || (last.ends === undefined && commitsMaybe(last, explicit));
  if (!mayCommit) return { fate: 'aborted', commit: never, end, holdsLocksUntil };
  return {
    fate: 'unknown',
    commit: { start: span.start, end: Number.POSITIVE_INFINITY },
    end: lostAt,
    holdsLocksUntil,
  };
}

function commitsMaybe(last: Operation, explicit: boolean): boolean {
  return !explicit || last.kind === 'commit' || last.kind === 'ddl' || last.kind === 'other';
}

interface SnapshotSpan {
  readonly span: Interval;
  readonly by: Operation;
}

function snapshotOf(
  { contract, operations, before, dialect }: TxSource,
  explicit: boolean,
): SnapshotSpan | undefined {
  const mechanism = contract?.mechanism;
  if (mechanism === undefined || !hasSnapshot(mechanism)) return undefined;
  const first = operations[0]!;
  if (!explicit) return { span: intervalOf(first), by: first };
  const fixes = (operation: Operation) => fixesSnapshot(operation, mechanism.pivot, dialect);
  const opened = before?.kind === 'begin' && opensAnother(before) ? before : undefined;
  const begin = first.kind === 'begin' ? first : opened;
  if (begin !== undefined && fixes(begin) === 'certainly') return { span: intervalOf(begin), by: begin };
  if (mechanism.pivot === 'begin') {
    // Without a BEGIN of its own, the transaction began somewhere after the session's previous answer.
    const start = begin?.start ?? before?.start ?? first.start;
    // One that failed need not have taken it: after SQLITE_BUSY, SQLite's transactions have none yet.
    const statement =
      operations.find((operation) => operation.outcome === 'ok' && fixes(operation) === 'certainly') ??
      operations.at(-1)!;
    return { span: { start, end: intervalOf(statement).end }, by: begin ?? statement };
  }
  const earliest = operations.find((operation) => fixes(operation) !== 'no');
  const certain = operations.find(
    (operation) => operation.outcome === 'ok' && fixes(operation) === 'certainly',
  );
  if (earliest === undefined) return undefined;
  const latest = certain ?? operations.at(-1)!;
  return { span: { start: earliest.start, end: intervalOf(latest).end }, by: latest };
}
