/**
 * Does a finding show an anomaly that a contract forbids? Contracts forbid families (`G-single`, `G2-item`), findings
 * have the most telling name (`lost-update`), so the families' inclusions decide (Adya 1999): dirty writes are circular
 * information flow; every cycle with item anti-dependencies is G2-item, and every one with any is G2.
 */
import type { Anomaly } from '../contracts/index.js';
import type { Finding } from './finding.js';

const wider: Readonly<Record<string, readonly Anomaly[]>> = {
  G0: ['G0', 'G1c'],
  G1a: ['G1a'],
  G1b: ['G1b'],
  G1c: ['G1c'],
  'lost-update': ['lost-update', 'lost-update-expression', 'G-single', 'G2-item', 'G2'],
  'read-skew': ['read-skew', 'G-single', 'G2-item', 'G2'],
  'read-write-skew': ['read-write-skew', 'G-single', 'G2-item', 'G2'],
  'write-skew': ['write-skew', 'G2-item', 'G2'],
  'G-single': ['G-single', 'G2-item', 'G2'],
  'G-nonadjacent': ['G-nonadjacent', 'G2-item', 'G2'],
  'G2-item': ['G2-item', 'G2'],
  G2: ['G2'],
};

/**
 * Findings that need session or real-time order (`G1c-session`) fall under no plain anomaly: a contract that promises
 * such an order says so in other words.
 */
export function fallsUnder(finding: Finding, anomaly: Anomaly): boolean {
  if (finding.kind === 'internal') {
    return anomaly === 'own-write-missed' && finding.rulesOut.includes('read uncommitted');
  }
  if (!Object.hasOwn(wider, finding.kind) || !wider[finding.kind]!.includes(anomaly)) return false;
  const throughPredicate = finding.cycle?.some((edge) => edge.kind === 'predicate-rw') === true;
  return anomaly !== 'G2-item' || !throughPredicate;
}
