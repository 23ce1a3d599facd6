/**
 * For each object the accesses that still matter in a sweep: an access b that comes after a and conflicts with
 * everything a conflicts with makes a superfluous for whatever comes after b. So lists stay as short as the
 * number of accesses that overlap, and a sweep is linear.
 */
import { conflictsOf } from './conflicts.js';

/** Looks at an access kept before; true: it came before the one at hand, for certain. */
export type Meet = (other: number, theirRoles: number, conflicts: boolean) => boolean;

export class LatestAccesses {
  readonly #steps: (number[] | undefined)[];
  readonly #roles: (number[] | undefined)[];

  constructor(objectCount: number) {
    this.#steps = new Array(objectCount).fill(undefined);
    this.#roles = new Array(objectCount).fill(undefined);
  }

  /** Meets what is kept of an object, drops what the new access stands in for, and keeps that. */
  add(object: number, step: number, roles: number, meet: Meet): void {
    const steps = this.#steps[object];
    if (steps === undefined) {
      this.#steps[object] = [step];
      this.#roles[object] = [roles];
      return;
    }
    const kindsOf = this.#roles[object]!;
    const mask = conflictsOf(roles);
    let kept = 0;
    for (let i = 0; i < steps.length; i++) {
      const other = steps[i]!;
      const theirs = kindsOf[i]!;
      const before = meet(other, theirs, (mask & theirs) !== 0);
      if (before && (conflictsOf(theirs) & ~mask) === 0) continue;
      steps[kept] = other;
      kindsOf[kept++] = theirs;
    }
    // Most lists keep their length: cutting and growing them again would cost more than the sweep.
    steps[kept] = step;
    kindsOf[kept] = roles;
    if (steps.length > kept + 1) {
      steps.length = kept + 1;
      kindsOf.length = kept + 1;
    }
  }

  /** The accesses kept of an object that conflict with these roles. */
  eachConflicting(object: number, roles: number, visit: (other: number) => void): void {
    const steps = this.#steps[object];
    if (steps === undefined) return;
    const kindsOf = this.#roles[object]!;
    const mask = conflictsOf(roles);
    for (let i = 0; i < steps.length; i++) if ((mask & kindsOf[i]!) !== 0) visit(steps[i]!);
  }
}
