import type { TargetDriver } from '../target.js';
import { openExecTarget } from './exec-target.js';

/** Any engine behind an adapter process that speaks JSON lines. */
export const execDriver: TargetDriver = {
  schemes: ['exec'],
  usage: 'exec:COMMAND  (an adapter that speaks JSON lines)',
  open: openExecTarget,
};
