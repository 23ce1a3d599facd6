/** The conformance suite on a `tidb-server`, with what TiDB does otherwise. */
import { describeFamilyConformance, type FamilyConformance } from '../mysql/family-conformance.case.js';
import { tidbDriver } from './index.js';

/** Three seconds on an idle machine. */
const lateKill = { reason: 'a join notices a KILL after seconds', unrun: true } as const;

export function describeTidbConformance(options: Pick<FamilyConformance, 'start' | 'available'>): void {
  describeFamilyConformance({
    ...options,
    scheme: 'tidb',
    driver: tidbDriver,
    optional: true,
    skips: {
      'other constraints have class constraint':
        'CHECK is read and not kept, unless tidb_enable_check_constraint is on (7.2 and later)',
      'a statement that runs too long ends with statement-timeout': lateKill,
      'cancel stops the running statement with class cancelled, as declared': lateKill,
      'a lock that is not granted in time fails with lock-timeout': {
        reason:
          'a statement outside of a transaction is optimistic, and tries to commit until its own time-out',
        unrun: true,
      },
    },
  });
}
