/**
 * Whether two findings are one bug. Where cases can be run, the second one is taken for a report, and the question is whether the first is a
 * duplicate of it: the answer is the one that `isKnown` would give. Without running, by what they are: the same cause and trigger are one bug, the same
 * symptom by another trigger may be one or two, other causes are two.
 */
import { isKnown } from './answer.js';
import type { AskedBug } from './candidate.js';
import { foundReport, repositoryOf } from './found-report.js';
import { describeFinding } from './run-known.js';
import type { KnownPlace } from './runnable.js';
import { isSameStorage } from './storage.js';

export interface SameBug {
  readonly verdict: 'same' | 'different' | 'undecided';
  readonly why: string;
}

/** `place`: where both cases are run; absent: nothing is. */
export async function isSameBug(one: AskedBug, other: AskedBug, place?: KnownPlace): Promise<SameBug> {
  if (!isSameStorage(one.target, other.target))
    return {
      verdict: 'different',
      why: `${one.target.name} and ${other.target.name} share no storage engine`,
    };
  if (place === undefined) return compareDescriptions(one, other);
  const names = { asked: 'the first case', report: 'the second case' };
  const answer = await isKnown(one, repositoryOf([foundReport(other, { id: 'the-other' })]), place, {
    names,
  });
  const why = answer.candidates[0]?.why ?? answer.why;
  const verdict = ({ duplicate: 'same', unique: 'different', undecided: 'undecided' } as const)[
    answer.verdict
  ];
  // What cannot be run proves nothing.
  return answer.candidates[0]?.match === 'not-run' ? compareDescriptions(one, other) : { verdict, why };
}

function compareDescriptions(one: AskedBug, other: AskedBug): SameBug {
  const [a, b] = [describeFinding(one.behaviour), describeFinding(other.behaviour)];
  if (a.signature !== b.signature)
    return {
      verdict: 'different',
      why: `other causes: ${a.kind} (${a.signature}) and ${b.kind} (${b.signature})`,
    };
  if (a.trigger !== b.trigger)
    return {
      verdict: 'undecided',
      why: `the same symptom by another trigger (${a.trigger || 'none'}, ${b.trigger || 'none'})`,
    };
  const form = a.variant === b.variant ? 'the same form' : 'another form';
  return { verdict: 'same', why: `the same cause (${a.signature}) in ${form}` };
}
