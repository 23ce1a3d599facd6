import { changingValues } from './canonical-values.js';
import { dropColumns } from './drop-columns.js';
import { dropOperations } from './drop-operations.js';
import { dropRows } from './drop-rows.js';
import { dropSetup } from './drop-setup.js';
import { dropTransactions } from './drop-transactions.js';
import { insertFirst } from './insert-first.js';
import { lowerLevel } from './lower-level.js';
import { mergeSessions } from './merge-sessions.js';
import { plainNames } from './plain-names.js';
import type { Passes } from './run-passes.js';
import { smallValues } from './small-values.js';
import { oneAtATime } from './total-order.js';
import { weakenStatements } from './weaken-statements.js';

export { operationRemovals, singleRemovals } from './drop-operations.js';
export type { Pass, PassContext } from './pass.js';
export { type Passes, runPasses } from './run-passes.js';
export { weakerStatements } from './weaken-statements.js';

/** What removes most comes first. */
export const passes: Passes = {
  removals: [dropTransactions, dropOperations],
  structural: [insertFirst, oneAtATime, mergeSessions, dropRows, dropSetup, weakenStatements, dropColumns],
  cosmetic: [plainNames, changingValues, smallValues, lowerLevel],
};
