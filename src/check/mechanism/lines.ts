/** The lines of a result, from what the engine returned or from what a trace says was read. */
import type { Access, Operation } from '../../histories/index.js';
import {
  type Dialect,
  type EvaluatedRow,
  isUndecidable,
  type Row,
  sameName,
  showValue,
  type Value,
} from '../../sql/index.js';
import type { Line } from './judge-read.js';
import { keyOfRow, type MirrorTable } from './mirror.js';
import type { ScanPlan } from './plan-types.js';

export function linesOfRows(operation: Operation, plan: ScanPlan): Line[] {
  return (operation.rows ?? []).map((row): Line => {
    // Most lines are compared and forgotten, so what only findings need is made on demand.
    return {
      key: plan.identityAt === undefined ? undefined : keyOfRow(plan.identityAt.map((at) => row[at] ?? null)),
      get text() {
        return `(${row.map(showValue).join(', ')})`;
      },
      get id() {
        return JSON.stringify(row);
      },
      fits: (image) => {
        const projected = plan.project(image);
        let known = true;
        for (let i = 0; i < projected.length; i++) {
          const cell = projected[i]!;
          if (isUndecidable(cell)) known = false;
          else if (cell !== row[i] && JSON.stringify(cell) !== JSON.stringify(row[i] ?? null)) return false;
        }
        return known ? true : undefined;
      },
      get whole() {
        return plan.wholeAt?.map((at) => row[at]!);
      },
    };
  });
}

export type RowValues = Readonly<Record<string, Value>>;

/** The values of a row in an access, by column; undefined: the access does not tell them. */
export function valuesOf({ value }: Access): RowValues | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as RowValues;
}

/** Splits `table/row`. */
export function splitObject(object: string): readonly [table: string, key: string] {
  const at = object.indexOf('/');
  return at < 0 ? ['', object] : [object.slice(0, at), object.slice(at + 1)];
}

/** Values a trace wrote as text equal the numbers they spell. */
export function sameTraced(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null || (typeof a === 'number' && typeof b === 'number')) return false;
  return showValue(a) === showValue(b);
}

export function linesOfAccesses(accesses: readonly Access[], table: MirrorTable, dialect: Dialect): Line[] {
  return accesses.map((access): Line => {
    const [, key] = splitObject(access.object);
    const values = valuesOf(access) ?? {};
    const entries = Object.entries(values).map(
      ([name, value]) => [columnAt(table, name, dialect), value] as const,
    );
    return {
      key,
      get text() {
        const cells = Object.entries(values).map(([name, value]) => `${name} ${showValue(value)}`);
        return `(${cells.join(', ')})`;
      },
      get id() {
        return JSON.stringify([key, values]);
      },
      fits: (image: EvaluatedRow) => {
        let known = true;
        for (const [at, value] of entries) {
          const cell = at < 0 ? undefined : image[at];
          if (cell === undefined || isUndecidable(cell)) known = false;
          else if (!sameTraced(cell, value)) return false;
        }
        return known ? true : undefined;
      },
      get whole() {
        return wholeRow(table, entries);
      },
    };
  });
}

/** The column's position; looked up once for each name, because traces repeat them for every row. */
export function columnAt(table: MirrorTable, name: string, dialect: Dialect): number {
  let at = table.columnPositions.get(name);
  if (at === undefined) {
    at = table.info.shape.columns.findIndex((column) => sameName(column.name, name, dialect));
    table.columnPositions.set(name, at);
  }
  return at;
}

function wholeRow(table: MirrorTable, entries: readonly (readonly [number, Value])[]): Row | undefined {
  const row: Value[] = [];
  for (const [at, value] of entries) if (at >= 0) row[at] = value;
  for (let i = 0; i < table.info.shape.columns.length; i++) if (row[i] === undefined) return undefined;
  return row;
}
