/** What a plan may write, before it is known what it did. */
import type { Operation } from '../../histories/index.js';
import type { MirrorTable } from './mirror.js';
import type { Plan } from './plan-types.js';

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
      return plan.writes ? plan.tables : [];
    default:
      return [plan.table];
  }
}

/** The only rows a plan may write; undefined: any of its tables. */
export function writtenKeys(
  plan: Plan,
  tables: ReadonlyMap<string, MirrorTable>,
): ReadonlySet<string> | undefined {
  if (plan.type === 'update' || plan.type === 'delete' || plan.type === 'opaque')
    return plan.keys === undefined ? undefined : new Set(plan.keys);
  if (plan.type !== 'insert' || plan.reads.length > 0) return undefined;
  const rows = plan.bind(() => []);
  const table = tables.get(plan.table)!;
  if (typeof rows === 'string' || table.info.identity.length === 0) return undefined;
  return new Set(rows.map((row) => table.keyOf(row)));
}
