import type { TargetOpener } from '../target.js';
import { openExecTarget } from './exec-target.js';

/** Any engine behind an adapter process that speaks JSON lines. */
export const execDriver: TargetOpener = {
  open: openExecTarget,
};
