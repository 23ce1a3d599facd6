/**
 * The anomalies Isolde names, with the names their papers gave them. One list for the probe, the contracts and
 * the checkers: whoever says "G-single" means this one.
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
  | 'read-skew' // G-single over two rows, both read
  | 'read-write-skew' // rw and ww through different rows
  | 'G-single' // one anti-dependency in the cycle, any shape
  | 'G-nonadjacent' // several anti-dependencies, no two adjacent
  | 'write-skew' // two adjacent anti-dependencies over two rows
  | 'G2-item' // any cycle with item anti-dependencies
  | 'G2' // any cycle with anti-dependencies, predicates included
  | 'own-write-missed'; // a transaction does not see its own write
