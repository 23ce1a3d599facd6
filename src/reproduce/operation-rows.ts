/** What an operation of a history tells about rows: the cells of recorded accesses and of results, the locks in its text. */
import type { Access, Operation } from '../histories/index.js';
import type { Evaluated, Value } from '../sql/index.js';
import { type Image, rowName, type Table, unknownCell } from './schema.js';
import type { RowLock, ScanPlan } from './statement-plan.js';

export function isRecord(value: Access['value']): value is Readonly<Record<string, Value>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  // A tagged value is an object with one tag of its own.
  return !(keys.length === 1 && /^(int|decimal|double|bytes|date|time|timestamp|other)$/.test(keys[0]!));
}

export function cellsOf(table: Table, record: Readonly<Record<string, Evaluated>>): Evaluated[] {
  const cells: Evaluated[] = table.columns.map(() => unknownCell);
  for (const [name, value] of Object.entries(record)) {
    let at = table.columns.indexOf(name.toLowerCase());
    if (at < 0) at = table.columns.push(name.toLowerCase()) - 1;
    cells[at] = value;
  }
  for (let i = 0; i < cells.length; i++) cells[i] ??= unknownCell;
  return cells;
}

/** The row after a write that tells only some of its cells. */
export function overlay(base: Image, cells: readonly Evaluated[]): Image {
  if (base === undefined || base === null) return cells;
  const width = Math.max(base.length, cells.length);
  return Array.from({ length: width }, (_, i) => {
    const cell = cells[i];
    const known = cell !== undefined && !(typeof cell === 'object' && cell !== null && 'undecidable' in cell);
    return known ? cell : (base[i] ?? unknownCell);
  });
}

/** The rows of a result by their names; undefined: the result does not name them. */
export function resultRows(
  op: Operation,
  plan: ScanPlan,
): { name: string; cells: Evaluated[] }[] | undefined {
  const { table } = plan;
  if (op.rows === undefined) return undefined;
  const shows = plan.shows ?? op.columns?.map((name) => table.columns.indexOf(name.toLowerCase())) ?? [];
  const named = table.identity.length > 0 && table.identity.every((at) => shows.includes(at));
  const single = plan.keys?.length === 1 ? plan.keys[0]! : undefined;
  if (!named && single === undefined) return undefined;
  const found: { name: string; cells: Evaluated[] }[] = [];
  for (const line of op.rows) {
    const cells: Evaluated[] = new Array(table.columns.length).fill(unknownCell);
    for (let i = 0; i < shows.length; i++) if (shows[i]! >= 0) cells[shows[i]!] = line[i] ?? null;
    const name = named ? rowName(table, cells) : single;
    if (name === undefined) return undefined;
    found.push({ name, cells });
  }
  return found;
}

export function lockOfText(op: Operation): RowLock {
  if (op.kind !== 'select') return 'none';
  const sql = op.sql ?? '';
  if (!/\bfor\b|\block\b/i.test(sql)) return 'none';
  return /\bfor\s+(no\s+key\s+)?update\b/i.test(sql) ? 'update' : /\bshare\b/i.test(sql) ? 'share' : 'none';
}
