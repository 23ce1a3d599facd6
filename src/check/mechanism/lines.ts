/** The lines of a result, from what the engine returned or from what a trace says was read. */

import type { Access, Operation } from '../../histories/index.js';
import { type RowValues, rowKey, rowText, type ScanPlan, splitObject, valuesOf } from '../../rows/index.js';
import {
  columnOf,
  type Dialect,
  type EvaluatedRow,
  isUndecidable,
  type Row,
  showValue,
  type Value,
} from '../../sql/index.js';
import type { MirrorTable } from './mirror.js';
import type { Line } from './scan-read.js';

export function linesOfRows(operation: Operation, plan: ScanPlan): Line[] {
  return (operation.rows ?? []).map((row): Line => {
    // Most lines are compared and forgotten, so what only findings need is made on demand.
    return {
      key: plan.identityAt === undefined ? undefined : rowKey(row, plan.identityAt),
      get text() {
        return `(${row.map(showValue).join(', ')})`;
      },
      get id() {
        return rowText(row);
      },
      fits: (image) => {
        const projected = plan.project(image);
        let known = true;
        for (let i = 0; i < projected.length; i++) {
          const cell = projected[i]!;
          if (isUndecidable(cell)) known = false;
          else if (cell !== row[i] && rowText([cell]) !== rowText([row[i] ?? null])) return false;
        }
        return known ? true : undefined;
      },
      get whole() {
        return plan.wholeAt?.map((at) => row[at]!);
      },
    };
  });
}

/** Values a trace wrote as text equal the numbers they spell. */
export function sameTraced(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null || (typeof a === 'number' && typeof b === 'number')) return false;
  return showValue(a) === showValue(b);
}

export function linesOfAccesses(accesses: readonly Access[], table: MirrorTable, dialect: Dialect): Line[] {
  const lines: Line[] = [];
  for (const access of accesses)
    if (access.mode === 'read') lines.push(new AccessLine(access, table, dialect));
  return lines;
}

/** One row a trace says was read. Traces have millions of them, so nothing is copied before it is asked for. */
class AccessLine implements Line {
  readonly key: string;
  readonly #values: RowValues;

  constructor(
    access: Access,
    readonly table: MirrorTable,
    readonly dialect: Dialect,
  ) {
    this.key = splitObject(access.object)[1];
    this.#values = valuesOf(access) ?? {};
  }

  get text(): string {
    const cells = Object.entries(this.#values).map(([name, value]) => `${name} ${showValue(value)}`);
    return `(${cells.join(', ')})`;
  }

  get id(): string {
    return JSON.stringify([this.key, this.#values]);
  }

  fits(image: EvaluatedRow): boolean | undefined {
    let known = true;
    for (const name in this.#values) {
      const at = columnAt(this.table, name, this.dialect);
      const cell = at < 0 ? undefined : image[at];
      if (cell === undefined || isUndecidable(cell)) known = false;
      else if (!sameTraced(cell, this.#values[name]!)) return false;
    }
    return known ? true : undefined;
  }

  get whole(): Row | undefined {
    const row: Value[] = [];
    for (const name in this.#values) {
      const at = columnAt(this.table, name, this.dialect);
      if (at >= 0) row[at] = this.#values[name]!;
    }
    for (let i = 0; i < this.table.info.shape.columns.length; i++) if (row[i] === undefined) return undefined;
    return row;
  }
}

/** The column's position; looked up once for each name, because traces repeat them for every row. */
export function columnAt(table: MirrorTable, name: string, dialect: Dialect): number {
  let at = table.columnPositions.get(name);
  if (at === undefined) {
    at = columnOf(table.info.shape.columns, name, dialect);
    table.columnPositions.set(name, at);
  }
  return at;
}
