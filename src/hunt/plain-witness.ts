/**
 * Cases that may show to a plain eye what an instrumented run has proved. Reduction throws away whatever its own oracle does not
 * need: the read that would show the damage, and values that tell one write from another. Both are put back, one by one and together:
 *
 * - a closing session that reads every table;
 * - another constant in every write, so that none leaves a value as it was or equals another one (`distinct-values.ts`).
 */
import type { ScheduledCase } from '../cases/index.js';
import type { Dialect } from '../sql/index.js';
import { withAllRead } from './closing-reads.js';
import { withDistinctValues } from './distinct-values.js';

/** The case as it is, then its variations. */
export function plainVariations(
  plain: Required<ScheduledCase>,
  dialect: Dialect,
): readonly Required<ScheduledCase>[] {
  const distinct = { case: withDistinctValues(plain.case, dialect), schedule: plain.schedule };
  return [plain, withAllRead(plain, dialect), distinct, withAllRead(distinct, dialect)];
}
