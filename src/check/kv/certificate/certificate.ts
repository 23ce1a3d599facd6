/**
 * The proof that goes with a verdict, as data small enough to be checked by a program that shares nothing with the one
 * that found it (`verify.ts`).
 *
 * `true`: an order. For serializable and repeatable read the transactions one after the other; for snapshot and prefix
 * the run, where `t` says that transaction t starts (and reads) and `-1 - t` that it commits; for the levels below an
 * order of commits. Where a value was written more than once, `reads` says which transaction a read saw
 * (-1: the initial state).
 *
 * `false`: a few transactions that break the level by themselves, whatever the others did.
 */
import { IsoldeError } from '../../../errors.js';
import { type CheckLevel, checkLevels } from '../../levels.js';

export const certificateFormat = 'isolde-certificate';

export type Certificate = {
  readonly format: typeof certificateFormat;
  readonly version: 1;
  /** The level, by its name in the lattice. */
  readonly level: CheckLevel;
} & (
  | {
      readonly valid: true;
      readonly order: readonly number[];
      readonly reads?: Readonly<Record<string, number>>;
    }
  | { readonly valid: false; readonly transactions: readonly number[] }
);

/** Reads a certificate from text that anybody may have written. */
export function parseCertificate(text: string, file = 'the certificate'): Certificate {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw new IsoldeError('bad-file', `${file} is not JSON; isolde check --certificate writes certificates`, {
      cause,
    });
  }
  const value = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const level = checkLevels.find((each) => each === value.level);
  const isNumbers = (list: unknown): list is number[] => Array.isArray(list) && list.every(Number.isInteger);
  if (value.format === certificateFormat && value.version === 1 && level !== undefined) {
    const base = { format: certificateFormat, version: 1, level } as const;
    if (value.valid === true && isNumbers(value.order)) {
      const reads = readsOf(value.reads);
      return { ...base, valid: true, order: value.order, ...(reads !== undefined && { reads }) };
    }
    if (value.valid === false && isNumbers(value.transactions)) {
      return { ...base, valid: false, transactions: value.transactions };
    }
  }
  throw new IsoldeError(
    'bad-file',
    `${file} is no certificate, which is {"format":"${certificateFormat}","version":1,"level":…,"valid":true,"order":[…]} or {…,"valid":false,"transactions":[…]}`,
  );
}

function readsOf(value: unknown): Record<string, number> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, number] =>
    Number.isInteger(entry[1]),
  );
  return Object.fromEntries(entries);
}
