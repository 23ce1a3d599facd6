/**
 * Which fault to inject, and when: `lost-update(table=t,nth=2)`.
 *
 * A fault has *occasions*: the statements at which it could strike (each mechanism says which). The trigger
 * narrows them; those that pass are counted from 1 since the last reset, in the order they are sent, and
 * `nth` or `every` picks among them. The same statements in the same order always trigger the same way.
 */
import { type Level, parseLevel } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';

export const faultNames = [
  'weaker-level',
  'stale-snapshot',
  'late-snapshot',
  'dirty-read',
  'missed-own-write',
  'missed-own-noop-write',
  'lost-update',
  'lost-insert',
  'commit-on-rollback',
  'partial-commit',
  'stripped-row-lock',
  'unreported-write-conflict',
  'visible-committed-delete',
  'resurrected-row',
  'phantom-in-snapshot',
  'split-predicate',
  'mixed-snapshot',
  'stale-index',
  'misfolded-expression',
  'altered-commit',
  'duplicate-key-accepted',
  'key-of-uncommitted-delete',
  'automatic-key-reused',
  'failure-ends-transaction',
  'stale-reevaluation',
  'index-past-snapshot',
  'missed-certification',
] as const;

export type FaultName = (typeof faultNames)[number];

export interface FaultSpec {
  readonly name: FaultName;
  /** The statement names this table. */
  readonly table?: string;
  /** The statement is of this kind: `select`, `update`, … */
  readonly kind?: string;
  /** The statement's text matches this regular expression (any case). */
  readonly match?: string;
  /** Only the nth occasion, from 1. */
  readonly nth?: number;
  /** Every kth occasion. */
  readonly every?: number;
  /** The column that tells rows apart, for faults that must; default: the table's first. */
  readonly key?: string;
  /** For `weaker-level`: the level to run at; default: the next weaker one. */
  readonly level?: Level;
}

const parameters = ['table', 'kind', 'match', 'nth', 'every', 'key', 'level'] as const;
type Parameter = (typeof parameters)[number];

/** Reads `name` or `name(parameter=value,…)`; a value with a comma or parenthesis stands in double quotes. */
export function parseFault(text: string): FaultSpec {
  const [, name, inside] = /^\s*([\w-]+)\s*(?:\((.*)\))?\s*$/s.exec(text) ?? [];
  const known = faultNames.find((entry) => entry === name);
  if (known === undefined) {
    throw new IsoldeError('usage', `"${text}" is no fault. Faults are: ${faultNames.join(', ')}`);
  }
  const spec: Record<string, unknown> = { name: known };
  for (const part of splitParameters(inside ?? '')) {
    const [, key, quoted, bare] = /^\s*(\w+)\s*=\s*(?:"([^"]*)"|([^"]*?))\s*$/s.exec(part) ?? [];
    const parameter = parameters.find((entry) => entry === key);
    if (parameter === undefined) {
      throw new IsoldeError(
        'usage',
        `"${part.trim()}" in the fault "${text}" is not understood; parameters are ${parameters.map((entry) => `${entry}=`).join(', ')}`,
      );
    }
    spec[parameter] = readParameter(parameter, quoted ?? bare ?? '', text);
  }
  return spec as unknown as FaultSpec;
}

/** The text `parseFault` reads back. */
export function showFault(spec: FaultSpec): string {
  const shown = parameters.flatMap((parameter) => {
    const value = spec[parameter];
    if (value === undefined) return [];
    return [`${parameter}=${/[,()\s]/.test(String(value)) ? `"${value}"` : value}`];
  });
  return shown.length === 0 ? spec.name : `${spec.name}(${shown.join(',')})`;
}

function splitParameters(inside: string): string[] {
  return inside.match(/(?:"[^"]*"|[^,"]|")+/g)?.filter((part) => part.trim() !== '') ?? [];
}

function readParameter(parameter: Parameter, value: string, text: string): unknown {
  const bad = (accepted: string) =>
    new IsoldeError('usage', `${parameter}=${value} in the fault "${text}" must be ${accepted}`);
  switch (parameter) {
    case 'nth':
    case 'every':
      if (!/^[1-9]\d{0,8}$/.test(value)) throw bad('a whole number from 1');
      return Number(value);
    case 'match':
      try {
        new RegExp(value, 'i');
      } catch {
        throw bad('a regular expression');
      }
      return value;
    case 'level': {
      const level = parseLevel(value);
      if (level === undefined) throw bad('an isolation level');
      return level;
    }
    default:
      if (value === '') throw bad('a name');
      return value;
  }
}
