/**
 * The sets of anomalies that recur in contracts. A row of the table spells its promise as one of these, so that
 * two vendors who promise the same cannot drift apart.
 */
import { type Anomaly, anomalies } from './anomaly.js';

/** Nothing uncommitted is ever seen or overwritten (Adya's G0 and G1). */
export const noDirtyData: readonly Anomaly[] = ['G0', 'G1a', 'G1b', 'G1c'];

/** What READ COMMITTED promises where each statement reads one committed state and writers wait. */
export const statementSnapshots: readonly Anomaly[] = [
  ...noDirtyData,
  'OTV',
  'lost-update-expression',
  'own-write-missed',
];

/** Plain reads come from one snapshot, but writes and locking reads see current rows (InnoDB, TiDB). */
export const snapshotForPlainReads: readonly Anomaly[] = [...statementSnapshots, 'PMP', 'read-skew'];

/** Snapshot isolation: one snapshot for everything, and no two writers of a row. */
export const snapshotIsolation: readonly Anomaly[] = [
  ...snapshotForPlainReads,
  'PMP-write',
  'lost-update',
  'read-write-skew',
  'G-single',
  'G-nonadjacent',
];

/** Reads lock rows, but not the gaps between them: serial for items, phantoms possible. */
export const itemLocks: readonly Anomaly[] = [
  ...statementSnapshots,
  'lost-update',
  'read-skew',
  'read-write-skew',
  'write-skew',
  'G2-item',
];

/** Serializability. */
export const everyAnomaly: readonly Anomaly[] = anomalies.map((anomaly) => anomaly.id);
