/** One operation of a Pisco trace as one of ours. What is odd about them is told in `pisco.ts`. */
import { showFound } from '../../json.js';
import { classifyStatement, type Value } from '../../sql/index.js';
import type { Access, ErrorClass, Operation, OperationError, OperationKind } from '../history.js';
import { type ColumnTypes, typedValue } from './pisco-values.js';

/** An operation whose place and times are still to be settled, when all of them are known. */
export type TraceOperation = { -readonly [field in keyof Operation]: Operation[field] };

interface RawOperation {
  readonly threadID: string;
  readonly transactionID: string;
  readonly operationTraceType: string;
  readonly startTimestamp: number;
  readonly finishTimestamp?: number;
  readonly isolationLevel?: string;
  readonly sql?: string;
  readonly exception?: string;
  readonly predicateLock?: string;
  readonly readTupleList?: unknown;
  readonly writeTupleList?: unknown;
}

const optionalTexts = ['isolationLevel', 'sql', 'exception', 'predicateLock'] as const;

export function isTraceOperation(thing: unknown): thing is RawOperation {
  if (typeof thing !== 'object' || thing === null) return false;
  const raw = thing as Record<string, unknown>;
  const isTime = (time: unknown): boolean => typeof time === 'number' && Number.isFinite(time);
  return (
    typeof raw.threadID === 'string' &&
    typeof raw.transactionID === 'string' &&
    typeof raw.operationTraceType === 'string' &&
    isTime(raw.startTimestamp) &&
    (raw.finishTimestamp === undefined || raw.finishTimestamp === null || isTime(raw.finishTimestamp)) &&
    optionalTexts.every(
      (name) => raw[name] === undefined || raw[name] === null || typeof raw[name] === 'string',
    )
  );
}

const kinds: Readonly<Record<string, OperationKind>> = {
  START: 'begin',
  SELECT: 'select',
  UPDATE: 'update',
  INSERT: 'insert',
  DELETE: 'delete',
  COMMIT: 'commit',
  ROLLBACK: 'rollback',
  SET_SNAPSHOT: 'set',
  DDL: 'ddl',
};

interface Place {
  readonly session: number;
  readonly transaction: number;
  readonly types: ColumnTypes;
  readonly fail: (problem: string, field?: string) => never;
}

export function traceOperation(raw: RawOperation, place: Place): TraceOperation {
  const type = raw.operationTraceType;
  const sql = raw.sql ?? undefined;
  const isEnd = type === 'COMMIT' || type === 'ROLLBACK';
  const stated = isEnd && sql !== undefined ? classifyStatement(sql, 'mysql').kind : undefined;
  const isFailed = stated !== undefined && stated !== 'commit' && stated !== 'rollback';
  const message = raw.exception ?? (isFailed ? (raw.predicateLock ?? 'no reason was recorded') : undefined);
  const error = message === undefined ? undefined : errorOf(message);
  const end = raw.finishTimestamp ?? null;
  if (end !== null && end < raw.startTimestamp) {
    place.fail(
      `expected a time not before startTimestamp ${raw.startTimestamp}, found ${end}`,
      'finishTimestamp',
    );
  }
  return {
    index: 0,
    session: place.session,
    transaction: place.transaction,
    kind: isFailed ? stated : Object.hasOwn(kinds, type) ? kinds[type]! : 'other',
    ...(sql !== undefined && { sql }),
    start: wholeTime(raw.startTimestamp, -1),
    end: end === null ? null : wholeTime(end, 1),
    outcome: end === null ? 'unknown' : error === undefined ? 'ok' : 'error',
    ...(error !== undefined && { error }),
    ...(isEnd && { ends: type === 'COMMIT' ? ('commit' as const) : ('rollback' as const) }),
    ...(error === undefined && accessesOf(raw, place)),
  };
}

/** Times beyond 2^53 have been rounded by up to 512; the interval grows by more than that, never shrinks. */
function wholeTime(time: number, direction: 1 | -1): number {
  if (Number.isSafeInteger(time)) return time;
  const whole = direction < 0 ? Math.floor(time) : Math.ceil(time);
  return Number.isSafeInteger(whole) ? whole : whole + direction * 1024;
}

function accessesOf(raw: RawOperation, place: Place): { accesses?: Access[] } {
  const isSelect = raw.operationTraceType === 'SELECT';
  const lists = [
    ['read', 'readTupleList'],
    ['write', 'writeTupleList'],
  ] as const;
  const accesses: Access[] = [];
  let listed = isSelect;
  for (const [mode, field] of lists) {
    const tuples = raw[field] ?? undefined;
    if (tuples === undefined) continue;
    if (!Array.isArray(tuples))
      return place.fail(`expected a list of rows, found ${showFound(tuples)}`, field);
    listed = true;
    (tuples as readonly unknown[]).forEach((tuple, i) => {
      accesses.push(accessOf(tuple, mode, place, `${field}[${i}]`));
    });
  }
  return listed ? { accesses } : {};
}

function accessOf(tuple: unknown, mode: 'read' | 'write', place: Place, field: string): Access {
  const { table, primaryKey, valueMap = {} } = (tuple ?? {}) as Record<string, unknown>;
  if (typeof table !== 'string' || (typeof primaryKey !== 'string' && typeof primaryKey !== 'number')) {
    return place.fail(`expected a row with table and primaryKey, found ${showFound(tuple)}`, field);
  }
  if (typeof valueMap !== 'object' || valueMap === null) {
    return place.fail(`expected values by column, found ${showFound(valueMap)}`, `${field}.valueMap`);
  }
  const object = `${table}/${primaryKey}`;
  const types = place.types.get(table);
  const row: Record<string, Value> = {};
  let columns = 0;
  for (const [column, text] of Object.entries(valueMap)) {
    row[column] = typedValue(text, types?.get(column));
    columns++;
  }
  return mode === 'write' && columns === 0 ? { mode: 'delete', object } : { mode, object, value: row };
}

const classes: readonly (readonly [RegExp, ErrorClass])[] = [
  [/deadlock/i, 'deadlock'],
  [/lock wait timeout/i, 'lock-timeout'],
  [/serializ|write conflict|concurrent update/i, 'serialization'],
  [/duplicate (entry|key)/i, 'duplicate-key'],
  [/interrupted|timed? ?out/i, 'statement-timeout'],
  [/connection|communications link/i, 'connection-lost'],
];

function errorOf(message: string): OperationError {
  return { class: classes.find(([pattern]) => pattern.test(message))?.[1] ?? 'other', message };
}
