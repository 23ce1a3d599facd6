/**
 * What an adapter may say, read field by field: an adapter is somebody's first afternoon of code, so every
 * deviation names the field, what stood there and what belongs there. The protocol itself is documented in
 * `docs/formats/exec-protocol.md`.
 */
import { type Level, levels } from '../../contracts/index.js';
import type { ErrorClass, OperationError } from '../../histories/index.js';
import { classifyStatement, type Dialect, isValue, type Row } from '../../sql/index.js';
import type { Answer, TargetFeatures, TargetLevel } from '../target.js';

export const protocolVersion = 1;

/** What an adapter tells of itself. */
export interface Hello {
  readonly name: string;
  readonly version: string;
  readonly dialect: Dialect;
  readonly levels: readonly TargetLevel[];
  readonly defaultLevel: Level;
  readonly features: TargetFeatures;
  /** It resets a scratch itself; otherwise the scratch is dropped, created and filled again. */
  readonly reset: boolean;
  /** It closes and opens a scratch again on request. */
  readonly reopen: boolean;
  /** Scratches outlive the process: it may be killed and started again, and has them still. */
  readonly durable: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

/** The adapter broke the protocol; nothing it says afterwards can be trusted. */
export class ProtocolError extends Error {}

type Fields = Readonly<Record<string, unknown>>;

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];
const transactionStates: readonly Answer['transaction'][] = ['none', 'open', 'failed', 'lost'];
const ends: readonly NonNullable<Answer['ended']>[] = ['commit', 'rollback', 'unknown'];
const errorClasses: readonly ErrorClass[] = [
  'deadlock',
  'serialization',
  'lock-timeout',
  'statement-timeout',
  'cancelled',
  'busy',
  'duplicate-key',
  'constraint',
  'transaction-aborted',
  'syntax',
  'unsupported',
  'data',
  'out-of-memory',
  'connection-lost',
  'crash',
  'other',
];

/** The answer to `hello`. */
export function readHello(thing: unknown): Hello {
  const fields = object(thing, 'hello');
  const found = list(fields.levels, 'hello.levels').map((entry, i): TargetLevel => {
    const level = object(entry, `hello.levels[${i}]`);
    const begin = text(level.begin, `hello.levels[${i}].begin`);
    // A session is opened at its level: to name the level once more changes nothing.
    const same = classifyStatement(begin).plainBegin || /\bisolation\s+level\b/i.test(begin);
    return {
      level: oneOf(levels, level.level, `hello.levels[${i}].level`),
      contract: text(level.contract, `hello.levels[${i}].contract`),
      begin,
      ...(!same && { plainBeginDiffers: true }),
    };
  });
  const defaultLevel = oneOf(
    found.map(({ level }) => level),
    fields.defaultLevel,
    'hello.defaultLevel',
  );
  const hello: Hello = {
    name: text(fields.name, 'hello.name'),
    version: text(fields.version, 'hello.version'),
    dialect: oneOf(dialects, fields.dialect, 'hello.dialect'),
    levels: found,
    defaultLevel,
    features: readFeatures(fields.features),
    reset: fields.reset === undefined ? false : flag(fields.reset, 'hello.reset'),
    reopen: fields.reopen === undefined ? false : flag(fields.reopen, 'hello.reopen'),
    durable: fields.durable === undefined ? false : flag(fields.durable, 'hello.durable'),
  };
  if (fields.settings === undefined) return hello;
  const settings = Object.entries(object(fields.settings, 'hello.settings'));
  return {
    ...hello,
    settings: Object.fromEntries(settings.map(([key, value]) => [key, text(value, `hello.settings.${key}`)])),
  };
}

function readFeatures(thing: unknown): TargetFeatures {
  const fields = object(thing, 'hello.features');
  const features: TargetFeatures = {
    conflicts: oneOf(['wait', 'fail'] as const, fields.conflicts, 'hello.features.conflicts'),
    counts: oneOf(['matched', 'changed', 'both'] as const, fields.counts, 'hello.features.counts'),
    lockingReads: flag(fields.lockingReads, 'hello.features.lockingReads'),
    savepoints: flag(fields.savepoints, 'hello.features.savepoints'),
    errorDoomsTransaction: flag(fields.errorDoomsTransaction, 'hello.features.errorDoomsTransaction'),
    transactionalDdl: flag(fields.transactionalDdl, 'hello.features.transactionalDdl'),
    cancel: flag(fields.cancel, 'hello.features.cancel'),
  };
  if (fields.maxSessions === undefined) return features;
  return { ...features, maxSessions: count(fields.maxSessions, 'hello.features.maxSessions') };
}

/** The answer to `execute`. */
export function readAnswer(thing: unknown): Answer {
  const fields = object(thing, 'answer');
  return {
    transaction: oneOf(transactionStates, fields.transaction, 'answer.transaction'),
    ...(fields.error != null && { error: readError(fields.error) }),
    ...(fields.columns != null && {
      columns: list(fields.columns, 'answer.columns').map((name, i) => text(name, `answer.columns[${i}]`)),
    }),
    ...(fields.rows != null && { rows: list(fields.rows, 'answer.rows').map(readRow) }),
    ...(fields.matched != null && { matched: count(fields.matched, 'answer.matched') }),
    ...(fields.changed != null && { changed: count(fields.changed, 'answer.changed') }),
    ...(fields.ended != null && { ended: oneOf(ends, fields.ended, 'answer.ended') }),
  };
}

function readRow(thing: unknown, index: number): Row {
  return list(thing, `answer.rows[${index}]`).map((value, i) => {
    if (isValue(value)) return value;
    throw wrong(`answer.rows[${index}][${i}]`, value, 'a value');
  });
}

function readError(thing: unknown): OperationError {
  const fields = object(thing, 'answer.error');
  return {
    class: oneOf(errorClasses, fields.class, 'answer.error.class'),
    message: text(fields.message, 'answer.error.message'),
    ...(fields.code != null && { code: text(fields.code, 'answer.error.code') }),
  };
}

/** The answer to `waiting`: numbers of sessions. */
export function readWaiting(thing: unknown): readonly number[] {
  return list(object(thing, 'waiting').sessions, 'waiting.sessions').map((session, i) =>
    count(session, `waiting.sessions[${i}]`),
  );
}

/** Any JSON object. */
export function object(thing: unknown, field: string): Fields {
  if (typeof thing === 'object' && thing !== null && !Array.isArray(thing)) return thing as Fields;
  throw wrong(field, thing, 'an object');
}

function list(thing: unknown, field: string): readonly unknown[] {
  if (Array.isArray(thing)) return thing;
  throw wrong(field, thing, 'a list');
}

function text(thing: unknown, field: string): string {
  if (typeof thing === 'string') return thing;
  throw wrong(field, thing, 'a text');
}

function flag(thing: unknown, field: string): boolean {
  if (typeof thing === 'boolean') return thing;
  throw wrong(field, thing, 'true or false');
}

function count(thing: unknown, field: string): number {
  if (Number.isSafeInteger(thing) && (thing as number) >= 0) return thing as number;
  throw wrong(field, thing, 'a whole number, 0 or more');
}

function oneOf<const T extends string>(accepted: readonly T[], thing: unknown, field: string): T {
  const found = accepted.find((entry) => entry === thing);
  if (found !== undefined) return found;
  throw wrong(field, thing, `one of ${accepted.map((entry) => `"${entry}"`).join(', ')}`);
}

function wrong(field: string, thing: unknown, expected: string): ProtocolError {
  const shown = thing === undefined ? 'missing' : shorten(JSON.stringify(thing));
  return new ProtocolError(`${field} is ${shown}; it must be ${expected}`);
}

/** At most 200 characters of a text nobody has checked, on one line. */
export function shorten(line: string): string {
  const plain = line.replaceAll(/[^\x20-\x7e\u00a0-\uffff]/g, '·');
  return plain.length > 200 ? `${plain.slice(0, 200)}… (${plain.length} characters)` : plain;
}
