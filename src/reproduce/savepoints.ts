/** Savepoints in the mirror: a ROLLBACK TO puts back what its transaction had left in its rows by then. */
import type { Operation } from '../histories/index.js';
import type { Image } from '../rows/index.js';
import * as role from './conflicts.js';
import type { MirrorState } from './mirror-state.js';

export function setSavepoint(state: MirrorState, transaction: number, op: Operation): void {
  const doing = state.do(transaction);
  const images = new Map<number, Image>(doing.rows.map((row, i) => [row, doing.after[i]!]));
  doing.savepoints ??= [];
  doing.savepoints.push({ name: lastWord(op), images });
}

export function rollBackTo(
  { doing: open, current, accesses }: MirrorState,
  step: number,
  transaction: number,
  op: Operation,
): void {
  const doing = open[transaction];
  const at = doing?.savepoints?.findLastIndex(({ name }) => name === lastWord(op)) ?? -1;
  if (doing === undefined || at < 0) return;
  const { images } = doing.savepoints![at]!;
  doing.savepoints!.length = at + 1;
  doing.rows.forEach((row, i) => {
    const image = images.get(row) ?? doing.before[i]!;
    doing.after[i] = image;
    if (doing.late?.has(row) === true) doing.late.set(row, image);
    else current[row] = image;
    accesses.add(step, row, role.write);
  });
}

function lastWord(op: Operation): string {
  return (op.sql ?? '').trim().split(/\s+/).at(-1)!.replace(/;$/, '').toLowerCase();
}
