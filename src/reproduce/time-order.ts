/**
 * The orders that time proves: of two conflicting accesses to an object, the one answered before the other was sent
 * comes first. One sweep over starts and ends; per object only those finished accesses are kept that no later one
 * stands in for, so the edges stay few: an access b that comes after a and conflicts with everything a conflicts with
 * makes a superfluous for whatever comes after b.
 */
import { conflictsOf } from './conflicts.js';
import type { Accesses } from './evidence.js';
import { Ints } from './ints.js';
import { type Steps, stepsByTime } from './steps.js';

export interface TimeEdges {
  readonly from: Ints;
  readonly to: Ints;
}

export const noEdges: TimeEdges = { from: new Ints(1), to: new Ints(1) };

export function timeOrder(steps: Steps, accesses: Accesses, objectCount: number): TimeEdges {
  const { count, start, end, session } = steps;
  const { first, object, roles } = accesses;
  const byStart = stepsByTime(steps, start);
  const byEnd = stepsByTime(steps, end);
  const finished: (number[] | undefined)[] = new Array(objectCount).fill(undefined);
  const rolesOf: (number[] | undefined)[] = new Array(objectCount).fill(undefined);
  const edges: TimeEdges = { from: new Ints(count * 2), to: new Ints(count * 2) };
  /** The last predecessor given to the step at hand, per session: an older one of that session adds nothing. */
  const given = new Int32Array(steps.firstOf.length).fill(-1);

  const finish = (step: number) => {
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const at = object[i]!;
      const own = roles[i]!;
      const mask = conflictsOf(own);
      let list = finished[at];
      let listRoles = rolesOf[at]!;
      if (list === undefined) {
        list = [];
        listRoles = [];
        finished[at] = list;
        rolesOf[at] = listRoles;
      }
      let kept = 0;
      for (let j = 0; j < list.length; j++) {
        const other = list[j]!;
        const theirs = conflictsOf(listRoles[j]!);
        const covered = (theirs & ~mask) === 0;
        const after =
          session[other] === session[step] || ((mask & listRoles[j]!) !== 0 && end[other]! < start[step]!);
        if (covered && after) continue;
        list[kept] = other;
        listRoles[kept++] = listRoles[j]!;
      }
      // Most lists keep their length: cutting and growing them again would cost more than the sweep.
      list[kept] = step;
      listRoles[kept] = own;
      if (list.length > kept + 1) {
        list.length = kept + 1;
        listRoles.length = kept + 1;
      }
    }
  };

  let ended = 0;
  const touched: number[] = [];
  for (let s = 0; s < count; s++) {
    const step = byStart[s]!;
    while (ended < count && end[byEnd[ended]!]! < start[step]!) finish(byEnd[ended++]!);
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const list = finished[object[i]!];
      if (list === undefined) continue;
      const listRoles = rolesOf[object[i]!]!;
      const mask = conflictsOf(roles[i]!);
      for (let j = 0; j < list.length; j++) {
        const other = list[j]!;
        const theirs = session[other]!;
        if ((mask & listRoles[j]!) === 0 || theirs === session[step]) continue;
        if (given[theirs]! < 0) touched.push(theirs);
        if (other > given[theirs]!) given[theirs] = other;
      }
    }
    for (const theirs of touched) {
      edges.from.push(given[theirs]!);
      edges.to.push(step);
      given[theirs] = -1;
    }
    touched.length = 0;
  }
  return edges;
}

/**
 * Of two conflicting accesses that overlapped, the one answered first probably came first. Guesses, given up wherever
 * anything else speaks against them. `only`: the objects that guesses are made for; absent: all.
 */
export function answerOrder(
  steps: Steps,
  accesses: Accesses,
  objectCount: number,
  only: ReadonlySet<number> | undefined,
  onGuess?: (step: number, object: number) => void,
): TimeEdges {
  const { count, start, end, session } = steps;
  const { first, object, roles } = accesses;
  const recent: (number[] | undefined)[] = new Array(objectCount).fill(undefined);
  const rolesOf: (number[] | undefined)[] = new Array(objectCount).fill(undefined);
  const edges: TimeEdges = { from: new Ints(count), to: new Ints(count) };
  const given = new Int32Array(steps.firstOf.length).fill(-1);
  const touched: number[] = [];
  for (const step of stepsByTime(steps, end)) {
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const at = object[i]!;
      if (only?.has(at) === false) continue;
      const mask = conflictsOf(roles[i]!);
      let list = recent[at];
      let listRoles = rolesOf[at]!;
      if (list === undefined) {
        list = [];
        listRoles = [];
        recent[at] = list;
        rolesOf[at] = listRoles;
      }
      let kept = 0;
      for (let j = 0; j < list.length; j++) {
        const other = list[j]!;
        const theirs = listRoles[j]!;
        const conflicts = (mask & theirs) !== 0;
        const apart = session[other] !== session[step];
        if (conflicts && apart && end[other]! >= start[step]!) {
          onGuess?.(step, at);
          if (given[session[other]!]! < 0) touched.push(session[other]!);
          if (other > given[session[other]!]!) given[session[other]!] = other;
        }
        const covered = (conflictsOf(theirs) & ~mask) === 0;
        if (covered && (conflicts || !apart)) continue;
        list[kept] = other;
        listRoles[kept++] = theirs;
      }
      list[kept] = step;
      listRoles[kept] = roles[i]!;
      if (list.length > kept + 1) {
        list.length = kept + 1;
        listRoles.length = kept + 1;
      }
    }
    for (const theirs of touched) {
      edges.from.push(given[theirs]!);
      edges.to.push(step);
      given[theirs] = -1;
    }
    touched.length = 0;
  }
  return edges;
}
