/**
 * Whether an assertion that failed in a smaller plan has to hold there at all. A plan is shrunk by leaving things out, and an
 * assertion is often about what was left out: a row that another group inserted is missing because its INSERT is gone.
 *
 * 1. The shadow state says that the assertion has to hold: it does, whatever was changed.
 * 2. It cannot be asked, and the assertion holds in any state (`anyState`: NoREC, TLP): the statements of its own group that are
 *    left must be as they were generated.
 * 3. It cannot be asked, and the assertion is about a state: everything that made this state must be there, unchanged. That is the
 *    failing group, and before it each group that may have written a table this one names, directly or over the tables those read.
 *    A group that names no table (a transaction's end, a fault) may have changed any.
 */
import type { Dialect } from '../sql/index.js';
import type { Interaction, Plan } from './interaction.js';
import type { PlanFailure } from './run-plan.js';
import { groupsOf, readsOnly, tablesOf } from './tables-named.js';

export function stillHasToHold(
  failure: PlanFailure,
  smaller: Plan,
  original: Plan,
  dialect: Dialect,
): boolean {
  if (failure.kind !== 'assertion' || failure.predicted === true || failure.at === undefined) return true;
  const failing = smaller.interactions[failure.at]!;
  const { group } = failing;
  if ('anyState' in failing && failing.anyState === true) return unchanged(group, smaller, original);
  const left = new Set(smaller.interactions.map(fingerprint));
  return [...madeTheState(group, original, dialect)].every((each) => left.has(fingerprint(each)));
}

/** The statements of a group that are left are as they were. */
function unchanged(group: number, smaller: Plan, original: Plan): boolean {
  const before = new Set(original.interactions.map(fingerprint));
  return smaller.interactions.every(
    (each) => each.group !== group || each.type !== 'statement' || before.has(fingerprint(each)),
  );
}

/** Statements and faults that may have made what a group finds, its own among them. */
function madeTheState(group: number, { interactions }: Plan, dialect: Dialect): Interaction[] {
  const end = interactions.findLastIndex((each) => each.group === group);
  const groups = groupsOf(interactions.slice(0, end + 1));
  const needed = new Set([group]);
  const reached = tablesOf(groups.get(group) ?? [], dialect);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [each, list] of groups) {
      if (needed.has(each) || readsOnly(list, dialect)) continue;
      const names = tablesOf(list, dialect);
      if (names.size > 0 && ![...names].some((name) => reached.has(name))) continue;
      needed.add(each);
      for (const name of names) reached.add(name);
      grown = true;
    }
  }
  return [...needed].flatMap((each) => groups.get(each) ?? []).filter(({ type }) => type !== 'assert');
}

const fingerprint = (each: Interaction): string => JSON.stringify(each);
