/** Writes of imported traces: the recorder says which rows a statement wrote and what it put into them. */

import type { Operation } from '../../histories/index.js';
import { type Image, mergeImages, splitObject, valuesOf } from '../../rows/index.js';
import type { EvaluatedRow } from '../../sql/index.js';
import type { Write } from './followed-write.js';
import { effectOn, needsRow } from './idle-writes.js';
import { isPermitted, record } from './judge-write.js';
import { columnAt } from './lines.js';
import { lookAt } from './outlook.js';
import type { Verification } from './verification.js';

/** Whether the history says which rows operations touched. */
export function isTraced(operations: readonly Operation[]): boolean {
  return operations.some(({ accesses }) => accesses?.some((access) => access.object.includes('/')));
}

export function followAccesses(
  verification: Verification,
  write: Write,
  folded: (name: string) => string,
): void {
  const { tx, operation, view } = write;
  const dialect = verification.history.header.dialect ?? 'postgres';
  for (const access of operation.accesses ?? []) {
    if (access.mode === 'read') continue;
    const [name, key] = splitObject(access.object);
    const table = verification.tables.get(folded(name));
    if (table === undefined) continue;
    const row = table.row(key);
    const outlook = lookAt(row, { view, tx, exclusive: verification.exclusive, pending: [] });
    verification.observer?.met(write, outlook);
    const values = valuesOf(access);
    let images: readonly Image[];
    if (access.mode === 'delete') images = ['absent'];
    else if (values === undefined) images = ['unknown'];
    else {
      const columns = Object.entries(values).map(
        ([column, value]) => [columnAt(table, column, dialect), value] as const,
      );
      const width = table.info.shape.columns.length;
      const overlay = (base: Image): Image => {
        if (typeof base === 'string' && columns.length < width) return base === 'absent' ? 'unknown' : base;
        const changed = typeof base === 'string' ? new Array(width).fill(null) : [...base];
        for (const [at, value] of columns) if (at >= 0) changed[at] = value;
        return changed as EvaluatedRow;
      };
      const present = outlook.images.filter((image) => image !== 'absent');
      images = mergeImages((present.length === 0 ? outlook.images : present).map(overlay));
    }
    const isNew = operation.kind === 'insert';
    const effect = isNew ? 'written' : effectOn(write, outlook, images);
    if (isNew || !needsRow(write, effect) || isPermitted(verification, write, outlook))
      record(write, row, images, effect);
    else record(write, row, ['unknown'], 'doubtful');
  }
  verification.tally.writes++;
}
