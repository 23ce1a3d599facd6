/** What a plan may write, before it is known what it did. */

import type { Operation } from '../../histories/index.js';
import { type Plan, rowKey } from '../../rows/index.js';

const writeKinds = new Set([
  'insert',
  'update',
  'delete',
  'replace',
  'merge',
  'ddl',
  'other',
  'write',
  'append',
]);

/** Kinds of operations that may change rows. */
export function isWriteKind(kind: Operation['kind']): boolean {
  return writeKinds.has(kind);
}

/** The tables a plan may write; undefined: any. */
export function writtenTables(plan: Plan): readonly string[] | undefined {
  switch (plan.type) {
    case 'idle':
    case 'scan':
    case 'query':
      return [];
    case 'opaque':
      return plan.writes ? plan.tables?.map(({ name }) => name) : [];
    default:
      return [plan.table.name];
  }
}

/** The only rows a plan may write; undefined: any of its tables. */
export function writtenKeys(plan: Plan): ReadonlySet<string> | undefined {
  if (plan.type === 'update' || plan.type === 'delete' || plan.type === 'opaque')
    return plan.keys === undefined ? undefined : new Set(plan.keys);
  if (plan.type !== 'insert' || plan.reads.length > 0) return undefined;
  const rows = plan.bind(() => []);
  if (typeof rows === 'string') return undefined;
  const keys = rows.map((row) => rowKey(row, plan.table.identity));
  return keys.includes(undefined) ? undefined : new Set(keys as string[]);
}
