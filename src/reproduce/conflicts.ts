/**
 * Which accesses to one object exclude each other in a batch, and must keep their order.
 *
 * An operation's access to an object is a set of roles (bits). Two accesses conflict if some role of one conflicts with
 * some role of the other. The roles go beyond the paper's reads and writes (Pisco §4), because a snapshot is
 * taken, a version published and a lock released by statements that name no row at all:
 *
 * - `snapshot`: the statement that fixes what later reads of its transaction see (BEGIN, the first statement, …);
 * - `publish`: the COMMIT that makes a written row visible;
 * - `release`, `releaseShare`: the end of a transaction that had locked the row without writing it, or had written it
 *   and takes it back.
 *
 * Objects are rows, or whole tables. On a table the same roles come in two strengths: the plain bits mean every row
 * (a scan, a statement we cannot follow), the bits shifted by `someRow` mean some row of it; two accesses to some row
 * do not conflict there, for their rows say whether they do.
 */

export const read = 1;
export const snapshot = 2;
export const share = 4;
export const lock = 8;
export const write = 16;
export const publish = 32;
export const releaseShare = 64;
export const release = 128;

/** Shift for roles that concern some row of a table. */
export const someRow = 8;
const everyRow = 0xff;

/** Roles that change what others see or may do. */
export const changing = lock | write | publish | release;

const against: readonly (readonly [role: number, conflictsWith: number])[] = [
  [read, write | publish],
  [snapshot, publish],
  [share, lock | write | publish | release],
  [lock, share | lock | write | publish | releaseShare | release],
  [write, read | share | lock | write | publish | releaseShare | release],
  [publish, read | snapshot | share | lock | write | publish | releaseShare | release],
  [releaseShare, lock | write | publish],
  [release, share | lock | write | publish],
];

const excluded = new Uint16Array(1 << 16);
for (let roles = 1; roles < excluded.length; roles++) {
  let mask = 0;
  for (const [role, others] of against) {
    if (roles & role) mask |= others | (others << someRow);
    if (roles & (role << someRow)) mask |= others;
  }
  excluded[roles] = mask;
}

/** The roles that conflict with any of these. */
export function conflictsOf(roles: number): number {
  return excluded[roles]!;
}

/** Whether two accesses to one object conflict. */
export function inConflict(a: number, b: number): boolean {
  return (excluded[a]! & b) !== 0;
}

/** The same roles, on the table a row belongs to. */
export function onTable(rowRoles: number): number {
  return (rowRoles & everyRow) << someRow;
}
