/**
 * The anomalies Isolde names, with the names their papers gave them. One list for the probe, the contracts and
 * the checkers: whoever says "G-single" means this one.
 *
 * A wide name covers narrow ones (`partOf`): every lost update is a cycle with one anti-dependency, so it is
 * also a `G-single` and a `G2-item`. A contract that forbids the wide one forbids the narrow ones; the reverse
 * does not hold, and that is how a level can forbid read skew yet allow lost updates (InnoDB's REPEATABLE READ).
 */
export type Anomaly =
  | 'G0' // dirty write
  | 'G1a' // aborted read
  | 'G1b' // intermediate read
  | 'G1c' // circular information flow
  | 'OTV' // observed transaction vanishes
  | 'PMP' // predicate-many-preceders, reads
  | 'PMP-write' // predicate-many-preceders, write predicates
  | 'lost-update' // P4: both transactions read the row, then write it
  | 'lost-update-expression' // SET v = v + 1 computed on a value that is no longer there
  | 'read-skew' // G-single over two rows, both read by plain reads
  | 'read-write-skew' // rw and ww through different rows
  | 'G-single' // one anti-dependency in the cycle, any shape
  | 'G-nonadjacent' // several anti-dependencies, no two adjacent
  | 'write-skew' // two adjacent anti-dependencies over two rows
  | 'G2-item' // any cycle with item anti-dependencies
  | 'G2' // any cycle with anti-dependencies, predicates included
  | 'own-write-missed'; // a transaction does not see its own write

export interface AnomalyDescription {
  readonly id: Anomaly;
  readonly title: string;
  /** One sentence for people. */
  readonly meaning: string;
  /** The wider anomalies each instance of this one also is, nearest first. */
  readonly partOf: readonly Anomaly[];
}

/** Every anomaly, from the weakest guarantee broken to the strongest. */
export const anomalies: readonly AnomalyDescription[] = [
  {
    id: 'G0',
    title: 'dirty write',
    meaning: 'Two transactions overwrite each other’s uncommitted rows, and the result mixes both.',
    partOf: ['G1c'],
  },
  {
    id: 'G1a',
    title: 'aborted read',
    meaning: 'A committed transaction read what another one wrote and then rolled back.',
    partOf: [],
  },
  {
    id: 'G1b',
    title: 'intermediate read',
    meaning: 'A transaction read a value that its writer overwrote before committing.',
    partOf: [],
  },
  {
    id: 'G1c',
    title: 'circular information flow',
    meaning: 'Each of two transactions saw the effects of the other.',
    partOf: [],
  },
  {
    id: 'OTV',
    title: 'observed transaction vanishes',
    meaning: 'A transaction saw a part of another one’s effects and later missed the rest.',
    partOf: ['G-single', 'G2'],
  },
  {
    id: 'PMP',
    title: 'predicate-many-preceders',
    meaning: 'Rows that a search did not find appear in a later search of the same transaction.',
    partOf: ['G-single', 'G2'],
  },
  {
    id: 'PMP-write',
    title: 'predicate-many-preceders, write predicates',
    meaning: 'The rows an UPDATE or DELETE chose fit no single state of the database.',
    partOf: ['G-single', 'G2'],
  },
  {
    id: 'lost-update-expression',
    title: 'lost update by expression',
    meaning: 'A SET value = value + n computed on a value that was no longer there.',
    partOf: ['lost-update', 'G-single', 'G2-item', 'G2'],
  },
  {
    id: 'lost-update',
    title: 'lost update (P4)',
    meaning: 'Two transactions read a row, both wrote it, both committed: one update is gone.',
    partOf: ['G-single', 'G2-item', 'G2'],
  },
  {
    id: 'read-skew',
    title: 'read skew (A5A)',
    meaning: 'Plain reads of two rows saw one before and one after another transaction.',
    partOf: ['G-single', 'G2-item', 'G2'],
  },
  {
    id: 'read-write-skew',
    title: 'read-write skew',
    meaning: 'A transaction read one row from before another transaction and overwrote its other row.',
    partOf: ['G-single', 'G2-item', 'G2'],
  },
  {
    id: 'G-single',
    title: 'single anti-dependency cycle',
    meaning: 'A transaction saw some effects of another one and missed others, in whatever way.',
    partOf: ['G2'],
  },
  {
    id: 'G-nonadjacent',
    title: 'cycle without adjacent anti-dependencies (long fork)',
    meaning: 'Two readers saw two independent writes in opposite orders.',
    partOf: ['G2'],
  },
  {
    id: 'write-skew',
    title: 'write skew (A5B)',
    meaning: 'Two transactions read the same rows and each changed another one of them.',
    partOf: ['G2-item', 'G2'],
  },
  {
    id: 'G2-item',
    title: 'item anti-dependency cycle',
    meaning: 'The transactions fit no serial order, shown by rows they read.',
    partOf: ['G2'],
  },
  {
    id: 'G2',
    title: 'anti-dependency cycle (phantoms included)',
    meaning: 'The transactions fit no serial order, shown by rows or by searches.',
    partOf: [],
  },
  {
    id: 'own-write-missed',
    title: 'own write missed',
    meaning: 'A transaction updated a row and then read it without its own update.',
    partOf: [],
  },
];

/** The description of an anomaly. */
export function describeAnomaly(id: Anomaly): AnomalyDescription {
  return anomalies.find((anomaly) => anomaly.id === id)!;
}

/** An anomaly from what people write: its id in any case. */
export function parseAnomaly(text: string): Anomaly | undefined {
  return anomalies.find((anomaly) => anomaly.id.toLowerCase() === text.trim().toLowerCase())?.id;
}
