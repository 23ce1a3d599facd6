/**
 * What definitions demand, whatever an engine does to meet them.
 *
 * Adya's levels proscribe cycles in the direct serialization graph: PL-1 those of writes (G0), PL-2 also dirty
 * information flow (G1), PL-CS also cycles over one row (G-cursor: lost updates), PL-2+ and PL-SI every cycle
 * with a single anti-dependency, PL-2.99 every cycle of item anti-dependencies (phantoms excepted), PL-3 all of
 * them. PL-2.99 and PL-SI are not comparable. Adya's histories are well-formed only if a transaction reads
 * its own last write, so every level demands that.
 *
 * The ANSI levels are taken in the reading of Berenson et al.: the phenomena P1, P2, P3 in their broad sense,
 * and P0 excluded everywhere. P2 excludes every read of a row that another active transaction may still change,
 * hence lost updates and all skews over rows; only P3 excludes what searches can show. That paper says nothing
 * of a transaction's own writes, so neither do these rows.
 */
import type { Anomaly } from './anomaly.js';
import { everyAnomaly, itemLocks, noDirtyData, snapshotIsolation } from './anomaly-sets.js';
import { cite } from './cite.js';
import type { Contract } from './contract.js';
import type { Level } from './level.js';

const thesis = cite(
  'A. Adya, Weak Consistency: A Generalized Theory and Optimistic Implementations for Distributed Transactions (MIT, 1999)',
  'https://pmg.csail.mit.edu/papers/adya-phd.pdf',
  'forbids',
);
const critique = cite(
  'H. Berenson et al., A Critique of ANSI SQL Isolation Levels (SIGMOD 1995)',
  'https://www.microsoft.com/en-us/research/publication/a-critique-of-ansi-sql-isolation-levels/',
  'forbids',
);

function adya(name: string, title: string, forbids: readonly Anomaly[]): Contract {
  return {
    id: `adya:${name}`,
    kind: 'theory',
    title: `Adya ${name}, ${title}`,
    owner: 'adya',
    forbids: [...new Set<Anomaly>([...forbids, 'own-write-missed'])],
    sources: thesis,
  };
}

function ansi(level: Level, forbids: readonly Anomaly[]): Contract {
  return {
    id: `ansi:${level.replaceAll(' ', '-')}`,
    kind: 'theory',
    title: `ANSI ${level.toUpperCase()} as read by Berenson et al.`,
    owner: 'ansi',
    level,
    forbids: forbids.filter((anomaly) => anomaly !== 'own-write-missed'),
    sources: critique,
  };
}

const oneAntiDependency: readonly Anomaly[] = snapshotIsolation.filter(
  (anomaly) => anomaly !== 'G-nonadjacent',
);
/** Adya's PL-2 has no word on atomic visibility, so observed transactions may vanish below PL-2+. */
const cursorStability: readonly Anomaly[] = [...noDirtyData, 'lost-update', 'lost-update-expression'];

export const theoryContracts: readonly Contract[] = [
  adya('PL-1', 'no dirty writes', ['G0']),
  adya('PL-2', 'read committed', noDirtyData),
  adya('PL-CS', 'cursor stability', cursorStability),
  adya('PL-2+', 'basic consistency', oneAntiDependency),
  adya('PL-2.99', 'repeatable read', itemLocks),
  adya('PL-SI', 'snapshot isolation', snapshotIsolation),
  adya('PL-3', 'serializability', everyAnomaly),
  ansi('read uncommitted', ['G0']),
  ansi('read committed', noDirtyData),
  ansi('repeatable read', itemLocks),
  ansi('serializable', everyAnomaly),
];
