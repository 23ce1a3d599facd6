/**
 * Lets one session send what two sent, where their transactions take turns: a case with two sessions is read at a glance,
 * one with five is not. Sessions whose transactions interleave cannot be merged.
 */
import type { StatementRef } from '../../cases/index.js';
import type { Candidate } from '../candidate.js';
import { mapSchedule, modelOf } from '../case-model.js';
import type { Pass } from './pass.js';

export const mergeSessions: Pass = {
  name: 'merge sessions',
  proposals(current) {
    const { sessions } = current.case;
    return sessions.flatMap((_, into) =>
      sessions.flatMap((_, from) => (from > into ? [() => merged(current, into, from)] : [])),
    );
  },
};

function merged(current: Candidate, into: number, from: number): Candidate | undefined {
  const { sessions } = current.case;
  if (sessions[into]!.level !== sessions[from]!.level) return undefined;
  const model = modelOf(current);
  const isOfBoth = ([s]: StatementRef) => s === into || s === from;
  const order: StatementRef[] = [];
  let open: { readonly transaction: number; readonly last: number } | undefined;
  for (const batch of current.schedule.batches) {
    const both = batch.filter(isOfBoth);
    if (both.length > 1) return undefined;
    for (const ref of both) {
      const transaction = model.transactionOf(ref);
      if (open !== undefined && open.transaction !== transaction) return undefined;
      const { last, end } = model.transactions[transaction]!;
      open = ref[1] === last && end !== 'open' ? undefined : { transaction, last };
      order.push(ref);
    }
  }
  const places = new Map(order.map(([s, p], position) => [`${s}/${p}`, position]));
  const moved = ([s, p]: StatementRef): StatementRef => {
    const position = places.get(`${s}/${p}`);
    return position === undefined ? [s > from ? s - 1 : s, p] : [into, position];
  };
  const statements = order.map(([s, p]) => sessions[s]!.statements[p]!);
  return {
    case: {
      ...current.case,
      sessions: sessions.flatMap((session, s) =>
        s === from ? [] : [s === into ? { ...session, statements } : session],
      ),
    },
    schedule: mapSchedule(current.schedule, moved),
  };
}
