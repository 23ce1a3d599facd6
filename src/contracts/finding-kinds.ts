/**
 * Every name for something that is wrong, in one closed table: anomalies with the names their papers gave them, and what
 * the oracles find besides. Contracts, probe, checkers, duplicate detection, reports and `--anomalies` read their lists
 * from here; the page `docs/stages/findings.md` is generated from it. To add a kind, add a row.
 *
 * A wide name covers narrow ones (`partOf`): every lost update is a cycle with one anti-dependency, so it is also a
 * `G-single` and a `G2-item`. A contract that forbids the wide one forbids the narrow ones; the reverse does not hold, and
 * that is how a level can forbid read skew yet allow lost updates (InnoDB's REPEATABLE READ).
 *
 * The explanation of a finding has no column here: the argument depends on rows, versions and times of the run, so the oracle that finds
 * it makes it, as data (`check/explanation.ts`), and all renderings come from that.
 *
 * A cycle that exists only because of the order of sessions or of the clock has a kind of its own, `G1c-session` or
 * `G1c-realtime`; these need no rows.
 */

/**
 * What a finding of a kind consists of: a `cycle` of dependencies; single reads (`read`) or writes (`write`) with the
 * versions seen and allowed; an `order` of versions or transactions that cannot exist; a broken `invariant` of a workload or a schema;
 * a failure of the `server`.
 */
export type FindingShape = 'cycle' | 'read' | 'write' | 'order' | 'invariant' | 'server';

export interface FindingKindRow {
  /** What a report is called: ends the line "PostgreSQL 18.0, RR: …". */
  readonly title: string;
  /** One sentence for people. */
  readonly meaning: string;
  /** Who reports it; empty: only contracts and the probe speak of it. `--anomalies` switches what `key-value` reports. */
  readonly oracles: readonly string[];
  readonly shape: FindingShape;
  /** A contract can forbid it by name, and the probe looks for it: an anomaly. */
  readonly forbiddable?: true;
  /** The operations a finding names, in the order it names them; the judged one first. */
  readonly roles: readonly string[];
  /** What should have happened, where a finding names no version that would have been right. */
  readonly expected: string;
  /** What was seen and what should have been, with roles instead of values (`dedupe/roles.ts`). */
  readonly seenAs?: readonly [seen: string, expected: string];
  /** The clauses of a contract that it can break, by their first word; `always`: no contract has to say it. */
  readonly clauses: readonly string[];
  /** The wider kinds each instance of this one also is, nearest first. */
  readonly partOf: readonly string[];
  /**
   * What it says of two writes of one row that should have excluded each other: `names` both of them, `implies` that one
   * overwrote the other, or `allows` this as the cause (`dedupe/conflict.ts`).
   */
  readonly writeConflict?: 'names' | 'implies' | 'allows';
  /**
   * What makes two findings of this kind one bug, where it is less than the whole behaviour: the kind of own write that is
   * not seen, or the clause alone (`dedupe/cause.ts`).
   */
  readonly groupedBy?: 'own-write' | 'clause';
  /** The kind that its cause is called by, where that is another one. */
  readonly groupedAs?: string;
  /** The role of what was seen, if its writer was rolled back; otherwise that of `seenAs`. */
  readonly seenOfAborted?: string;
  /** The writer of the two that came first had not ended, or the finding would not be. */
  readonly firstIsOpen?: true;
  /** What a report calls the symptom, where it is no wrong read or state. */
  readonly symptom?: 'crash' | 'unexpected-error';
  /** Each run that shows it waits until a time limit is over. */
  readonly takesTimeLimit?: true;
  /** Wrong is how many rows a write matched. */
  readonly wrongCount?: true;
}

const cycleRoles = ['both operations of each dependency, in the order of the cycle'];
const serialOrder = 'an order that explains every result, or an error for one of the transactions';
const inSnapshot = 'the newest version committed before the snapshot';
const readRoles = [
  'the read',
  'the write of the version seen, or of the one missed',
  'what took the snapshot',
];
const snapshotClauses = ['pivot', 'lockingReadsSee'];

/** From the weakest guarantee broken to the strongest; then what only single oracles say. */
const table = {
  G0: {
    title: 'dirty write',
    meaning: 'Two transactions overwrite each other’s uncommitted rows, and the result mixes both.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: ['G1c'],
  },
  G1a: {
    title: 'aborted read',
    meaning: 'A committed transaction read what another one wrote and then rolled back.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'read',
    forbiddable: true,
    roles: ['the read', 'the write that was rolled back'],
    expected: 'nothing of a transaction that rolled back',
    seenAs: ['aborted', 'committed'],
    clauses: ['forbids', 'always'],
    partOf: [],
  },
  G1b: {
    title: 'intermediate read',
    meaning: 'A transaction read a value that its writer overwrote before committing.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'read',
    forbiddable: true,
    roles: ['the read', 'the later write of the same transaction'],
    expected: 'only versions that were committed',
    seenAs: ['intermediate', 'final'],
    clauses: ['forbids'],
    partOf: [],
  },
  G1c: {
    title: 'circular information flow',
    meaning: 'Each of two transactions saw the effects of the other.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: [],
  },
  OTV: {
    title: 'observed transaction vanishes',
    meaning: 'A transaction saw a part of another one’s effects and later missed the rest.',
    oracles: [],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids'],
    partOf: ['G-single', 'G2'],
  },
  PMP: {
    title: 'predicate-many-preceders',
    meaning: 'Rows that a search did not find appear in a later search of the same transaction.',
    oracles: [],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids'],
    partOf: ['G-single', 'G2'],
  },
  'PMP-write': {
    title: 'predicate-many-preceders, write predicates',
    meaning: 'The rows an UPDATE or DELETE chose fit no single state of the database.',
    oracles: [],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids'],
    partOf: ['G-single', 'G2'],
  },
  'lost-update-expression': {
    title: 'lost update by expression',
    meaning: 'A SET value = value + n computed on a value that was no longer there.',
    oracles: [],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids'],
    partOf: ['lost-update', 'G-single', 'G2-item', 'G2'],
    writeConflict: 'implies',
  },
  'lost-update': {
    title: 'lost update (P4)',
    meaning: 'Two transactions read a row, both wrote it, both committed: one update is gone.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: ['G-single', 'G2-item', 'G2'],
    writeConflict: 'implies',
  },
  'read-skew': {
    title: 'read skew (A5A)',
    meaning: 'Plain reads of two rows saw one before and one after another transaction.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: ['G-single', 'G2-item', 'G2'],
  },
  'read-write-skew': {
    title: 'read-write skew',
    meaning: 'A transaction read one row from before another transaction and overwrote its other row.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: ['G-single', 'G2-item', 'G2'],
  },
  'G-single': {
    title: 'single anti-dependency cycle',
    meaning: 'A transaction saw some effects of another one and missed others, in whatever way.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier', 'pivot'],
    partOf: ['G2'],
  },
  'G-nonadjacent': {
    title: 'cycle without adjacent anti-dependencies (long fork)',
    meaning: 'Two readers saw two independent writes in opposite orders.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: ['G2'],
  },
  'write-skew': {
    title: 'write skew (A5B)',
    meaning: 'Two transactions read the same rows and each changed another one of them.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: ['G2-item', 'G2'],
  },
  'G2-item': {
    title: 'item anti-dependency cycle',
    meaning: 'The transactions fit no serial order, shown by rows they read.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: ['G2'],
  },
  G2: {
    title: 'anti-dependency cycle (phantoms included)',
    meaning: 'The transactions fit no serial order, shown by rows or by searches.',
    oracles: ['key-value', 'dependency-graph', 'mechanism'],
    shape: 'cycle',
    forbiddable: true,
    roles: cycleRoles,
    expected: serialOrder,
    clauses: ['forbids', 'certifier'],
    partOf: [],
  },
  'own-write-missed': {
    title: 'a transaction does not see its own write',
    meaning: 'A transaction wrote a row and then read it without its own write.',
    oracles: ['mechanism'],
    shape: 'read',
    forbiddable: true,
    roles: ['the read', 'the transaction’s own write', 'what took the snapshot'],
    expected: 'the transaction’s own write',
    seenAs: ['other than its own write', 'own write'],
    clauses: ['ownWrites'],
    partOf: [],
    groupedBy: 'own-write',
  },
  internal: {
    title: 'a transaction contradicts its own reads or writes',
    meaning: 'A transaction missed its own write, or read one key twice with different results.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'read',
    roles: ['the read', 'the earlier write or read of the same transaction'],
    expected: 'what the transaction itself had written or read before',
    seenAs: ['other than its own write', 'own write'],
    clauses: ['forbids'],
    partOf: [],
    groupedBy: 'own-write',
    groupedAs: 'own-write-missed',
  },
  'future-read': {
    title: 'a transaction reads what it writes only later',
    meaning: 'A transaction read a value that it wrote itself, in a later statement.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'read',
    roles: ['the read', 'the later write of the same transaction'],
    expected: 'a version written before the read',
    seenAs: ['its own later write', 'an earlier version'],
    clauses: ['forbids'],
    partOf: [],
  },
  'garbage-read': {
    title: 'a read returns a value nobody wrote',
    meaning: 'A read returned a value that no statement of the history wrote.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'read',
    roles: ['the read'],
    expected: 'a value that was written',
    seenAs: ['never written', 'written'],
    clauses: ['always'],
    partOf: [],
  },
  'duplicate-write': {
    title: 'one write shows twice',
    meaning: 'A row or list holds the effect of one statement twice.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'read',
    roles: ['the read', 'the write that shows twice'],
    expected: 'each write once',
    clauses: ['always'],
    partOf: [],
  },
  'incompatible-order': {
    title: 'reads disagree about the order of a row’s versions',
    meaning: 'Two reads show the versions of one row in orders that exclude each other.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'read',
    roles: ['one read or delete', 'the other one'],
    expected: 'one order of the row’s versions for everybody',
    clauses: ['forbids'],
    partOf: [],
    writeConflict: 'implies',
  },
  'no-order': {
    title: 'no order of the transactions explains the results',
    meaning: 'Every order of the versions was tried and refuted, and no single cycle shows it.',
    oracles: ['key-value', 'dependency-graph'],
    shape: 'order',
    roles: ['all operations of the transactions'],
    expected: serialOrder,
    clauses: ['forbids'],
    partOf: [],
  },
  'lost-write': {
    title: 'a committed write is gone',
    meaning: 'A transaction wrote a row and committed, and at the end the write is nowhere.',
    oracles: ['dependency-graph'],
    shape: 'write',
    roles: ['the write that is gone'],
    expected: 'an error, or the write there once it is committed',
    seenAs: ['without the write', 'the write'],
    clauses: ['always'],
    partOf: [],
    writeConflict: 'implies',
  },
  'dirty-read': {
    title: 'a read sees uncommitted data',
    meaning: 'A read returned what another transaction rolled back, or had not committed yet.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: readRoles,
    expected: inSnapshot,
    seenAs: ['uncommitted', 'committed before the pivot'],
    clauses: snapshotClauses,
    partOf: [],
    seenOfAborted: 'aborted',
  },
  'intermediate-read': {
    title: 'a read sees an intermediate version',
    meaning: 'A read returned a value that its writer overwrote before it committed.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: readRoles,
    expected: inSnapshot,
    seenAs: ['intermediate', 'committed before the pivot'],
    clauses: snapshotClauses,
    partOf: [],
  },
  'post-snapshot-read': {
    title: 'a read sees a version committed after its snapshot',
    meaning:
      'A read returned a version that was committed after the snapshot of its transaction or statement.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: readRoles,
    expected: inSnapshot,
    seenAs: ['later', 'committed before the pivot'],
    clauses: snapshotClauses,
    partOf: [],
  },
  'stale-read': {
    title: 'a read sees a version overwritten before its snapshot',
    meaning: 'A read returned a version although a newer one was committed before its snapshot.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: readRoles,
    expected: inSnapshot,
    seenAs: ['overwritten', 'committed before the pivot'],
    clauses: snapshotClauses,
    partOf: [],
    writeConflict: 'allows',
  },
  'wrong-version': {
    title: 'a read returns a value that was never written',
    meaning: 'A read returned values of a row that no known version has.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: readRoles,
    expected: inSnapshot,
    seenAs: ['never written', 'committed before the pivot'],
    clauses: snapshotClauses,
    partOf: [],
    writeConflict: 'allows',
  },
  'missing-row': {
    title: 'a read misses a row it must see',
    meaning:
      'Every version of the row that the read may see satisfies its condition, and the row is not in the result.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: readRoles,
    expected: 'the row',
    seenAs: ['a row', 'committed before the pivot'],
    clauses: snapshotClauses,
    partOf: [],
    writeConflict: 'allows',
  },
  'extra-row': {
    title: 'a read returns a row it must not see',
    meaning:
      'No version of the row that the read may see satisfies its condition, and the row is in the result.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: readRoles,
    expected: 'no such row',
    seenAs: ['a row', 'committed before the pivot'],
    clauses: snapshotClauses,
    partOf: [],
    writeConflict: 'allows',
  },
  'wrong-result': {
    title: 'a query returns what no state of the database gives',
    meaning: 'A join, aggregate or subquery returned what no state it may see gives.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: ['the query', 'the transaction’s own writes', 'what took the snapshot'],
    expected: 'the result of one of the states it may see',
    clauses: snapshotClauses,
    partOf: [],
    writeConflict: 'allows',
  },
  'fractured-snapshot': {
    title: 'reads of one transaction fit no single snapshot',
    meaning:
      'A transaction saw one row after a commit and another row before it, though it reads from one snapshot.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: ['the read that contradicts', 'the read that saw the commit', 'the read that missed it'],
    expected: 'all rows from one snapshot',
    clauses: ['pivot'],
    partOf: ['G-single', 'G2'],
  },
  'write-missed-row': {
    title: 'a write misses rows its condition selects',
    meaning: 'An UPDATE or DELETE changed fewer rows than its condition selects.',
    oracles: ['dependency-graph', 'mechanism'],
    shape: 'write',
    roles: ['the write', 'the writes of the rows it selects', 'what took the snapshot'],
    expected: 'every row its condition selects',
    clauses: ['writesSee', 'forbids'],
    partOf: ['PMP-write', 'G-single', 'G2'],
    writeConflict: 'allows',
    wrongCount: true,
  },
  'write-extra-row': {
    title: 'a write changes rows its condition does not select',
    meaning: 'An UPDATE or DELETE changed more rows than its condition selects.',
    oracles: ['dependency-graph', 'mechanism'],
    shape: 'write',
    roles: ['the write', 'the writes of the rows it selects', 'what took the snapshot'],
    expected: 'only rows its condition selects',
    clauses: ['writesSee', 'forbids'],
    partOf: ['PMP-write', 'G-single', 'G2'],
    writeConflict: 'allows',
    wrongCount: true,
  },
  'own-delete-missed': {
    title: 'a transaction still sees a row it deleted',
    meaning: 'A row is still seen that another transaction deleted and then the transaction itself.',
    oracles: ['mechanism'],
    shape: 'read',
    roles: ['the read', 'the own DELETE', 'the other transaction’s DELETE', 'what took the snapshot'],
    expected: 'no such row',
    clauses: ['ownDeletesHide'],
    partOf: ['own-write-missed'],
    groupedBy: 'own-write',
  },
  'condition-mismatch': {
    title: 'a write and a read of one transaction disagree about a condition',
    meaning:
      'An UPDATE or DELETE whose condition has a subquery matched other rows than a SELECT would, among rows nobody changed.',
    oracles: ['mechanism'],
    shape: 'write',
    roles: ['the write', 'the change it must not see', 'what took the snapshot'],
    expected: 'the rows that a SELECT with the same condition finds',
    clauses: ['subqueriesSee'],
    partOf: ['PMP-write', 'G-single', 'G2'],
    groupedBy: 'clause',
    wrongCount: true,
  },
  'lock-violated': {
    title: 'two transactions that are both open get conflicting locks on one row',
    meaning: 'A row was granted to a transaction while another one certainly held it.',
    oracles: ['mechanism'],
    shape: 'write',
    roles: ['the statement that was granted the row', 'the statement that holds it', 'the end of the holder'],
    expected: 'to wait for the other transaction, or to fail',
    clauses: ['writeConflict', 'readsLock'],
    partOf: [],
    writeConflict: 'names',
    firstIsOpen: true,
  },
  'update-of-changed-row': {
    title: 'a row that changed after the snapshot is written without a conflict',
    meaning: 'A row that changed after the snapshot was written without an error.',
    oracles: ['mechanism'],
    shape: 'write',
    roles: ['the write', 'what took the snapshot', 'the change in between', 'the commit of the change'],
    expected: 'a serialization error',
    clauses: ['firstUpdaterWins'],
    partOf: [],
    writeConflict: 'names',
  },
  'duplicate-key': {
    title: 'two rows of one result share a declared key',
    meaning:
      'A result has two rows with the same value of a declared primary or unique key, though it shows one state.',
    oracles: ['constraints'],
    shape: 'invariant',
    roles: ['the read', 'the INSERTs of the rows'],
    expected: 'each key once',
    clauses: ['declared'],
    partOf: [],
    groupedBy: 'clause',
  },
  'double-insert': {
    title: 'two INSERTs of one key both succeed',
    meaning:
      'A committed INSERT put in a row with the key of another one, though nothing can have freed that key.',
    oracles: ['constraints'],
    shape: 'invariant',
    roles: ['the INSERT', 'the other INSERT'],
    expected: 'an error for one of the two',
    clauses: ['declared'],
    partOf: [],
    groupedBy: 'clause',
  },
  'broken-constraint': {
    title: 'a row breaks a declared condition',
    meaning: 'A result has a row that a NOT NULL or CHECK of its table does not allow.',
    oracles: ['constraints'],
    shape: 'invariant',
    roles: ['the read'],
    expected: 'only rows that satisfy every condition of their table',
    clauses: ['declared'],
    partOf: [],
    groupedBy: 'clause',
  },
  'dangling-reference': {
    title: 'a row refers to a row that does not exist',
    meaning: 'A committed state has a row whose foreign key refers to none.',
    oracles: ['constraints'],
    shape: 'invariant',
    roles: ['the read of the row', 'the read of the table it refers to'],
    expected: 'a row for every reference',
    clauses: ['declared'],
    partOf: [],
    groupedBy: 'clause',
  },
  'short-insert': {
    title: 'an INSERT reports another number of rows than it has',
    meaning: 'An INSERT … VALUES succeeded and reported fewer or more rows than its VALUES.',
    oracles: ['constraints'],
    shape: 'invariant',
    roles: ['the INSERT'],
    expected: 'as many rows as the VALUES have',
    clauses: ['always'],
    partOf: [],
    groupedBy: 'clause',
  },
  'broken-fact': {
    title: 'a fact that every transaction keeps is broken',
    meaning:
      'Many short transactions that all keep a fact about the rows (a sum, a count) ran at the same time, and the fact does not hold.',
    oracles: ['burst'],
    shape: 'invariant',
    roles: ['the read that shows it'],
    expected: 'the fact, in every read that sees a committed state',
    clauses: ['forbids', 'pivot', 'declared'],
    partOf: [],
    groupedBy: 'clause',
  },
  'result-differs': {
    title: 'a query returns something else than the same statements without transactions',
    meaning:
      'The statements, executed one by one without transactions in an order that keeps all their dependencies, give the query another result.',
    oracles: ['statement'],
    shape: 'read',
    roles: ['the query', 'the statements it depends on, and those that depend on it'],
    expected: 'what it returns without transactions',
    clauses: ['always', 'subqueriesSee'],
    partOf: [],
  },
  'write-differs': {
    title: 'a write touches other rows than the same statements without transactions',
    meaning:
      'The statements, executed one by one without transactions in an order that keeps all their dependencies, make the write match another number of rows.',
    oracles: ['statement'],
    shape: 'write',
    roles: ['the write', 'the statements it depends on, and those that depend on it'],
    expected: 'as many rows as without transactions',
    clauses: ['always', 'subqueriesSee'],
    partOf: [],
    wrongCount: true,
  },
  'state-differs': {
    title: 'the final state is not that of the same statements without transactions',
    meaning:
      'Every statement gives the same, executed one by one without transactions in an order that keeps all their dependencies, and yet another state is left.',
    oracles: ['statement'],
    shape: 'write',
    roles: ['the last write of the table', 'the other writes of the table'],
    expected: 'the rows that are there without transactions',
    clauses: ['always', 'subqueriesSee'],
    partOf: [],
  },
  'error-differs': {
    title: 'a statement works inside its transaction and fails without transactions',
    meaning:
      'A statement worked inside its transaction and fails in an order without transactions that keeps all dependencies.',
    oracles: ['statement'],
    shape: 'write',
    roles: ['the statement', 'the statements it depends on, and those that depend on it'],
    expected: 'the same outcome as without transactions',
    clauses: ['always', 'subqueriesSee'],
    partOf: [],
  },
  'unexpected-error': {
    title: 'a transaction fails that should not',
    meaning:
      'A statement or a COMMIT failed for no reason that databases document, and works without a transaction on the same rows.',
    oracles: ['statement'],
    shape: 'write',
    roles: ['the statement that failed'],
    expected: 'the same outcome as without transactions',
    clauses: ['always'],
    partOf: [],
    symptom: 'unexpected-error',
  },
  'server-crash': {
    title: 'the server crashes',
    meaning: 'The server died while it ran a statement.',
    oracles: ['server'],
    shape: 'server',
    roles: ['the statement that was running'],
    expected: 'an answer',
    clauses: ['always'],
    partOf: [],
    symptom: 'crash',
  },
  'connection-lost': {
    title: 'the server closes the connection',
    meaning: 'The server closed the connection while it ran a statement.',
    oracles: ['server'],
    shape: 'server',
    roles: ['the statement that was running'],
    expected: 'an answer',
    clauses: ['always'],
    partOf: [],
    symptom: 'crash',
  },
  'no-answer': {
    title: 'the server never answers',
    meaning: 'A statement got no answer within the time limit, and no other session explains that.',
    oracles: ['server'],
    shape: 'server',
    roles: ['the statement without an answer'],
    expected: 'an answer',
    clauses: ['always'],
    partOf: [],
    symptom: 'crash',
    takesTimeLimit: true,
  },
  'out-of-memory': {
    title: 'a statement runs out of memory',
    meaning: 'The database says that it has no memory left for a statement on the few rows of the case.',
    oracles: ['server'],
    shape: 'server',
    roles: ['the statement that ran out of memory'],
    expected: 'an answer',
    clauses: ['always'],
    partOf: [],
    symptom: 'crash',
  },
  'memory-growth': {
    title: 'the server keeps memory without bound',
    meaning:
      'The memory that only the server’s own processes hold grew by more than 256 MiB while the few statements of the case ran.',
    oracles: ['server'],
    shape: 'server',
    roles: ['the last statement'],
    expected: 'memory in proportion to the rows of the case',
    clauses: ['always'],
    partOf: [],
    symptom: 'crash',
  },
  'wrong-total': {
    title: 'balances do not sum to the total',
    meaning: 'A read of all accounts has another sum than transfers between them allow.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read', 'a read with the right sum'],
    expected: 'the sum that transfers keep',
    clauses: ['always'],
    partOf: [],
  },
  'negative-balance': {
    title: 'an account is below zero',
    meaning: 'A read shows a balance below 0, which a transfer must not lead to.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read'],
    expected: 'balances from 0 on',
    clauses: ['always'],
    partOf: [],
  },
  'missing-account': {
    title: 'an account or its balance is missing',
    meaning: 'A read of all accounts misses one that was there before, or has no balance for it.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read', 'an earlier read with the account'],
    expected: 'every account with its balance',
    clauses: ['always'],
    partOf: [],
  },
  'lost-element': {
    title: 'an element added to a set is gone',
    meaning:
      'An element was added, or seen, before a read began, and neither that read nor a later one has it.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read', 'what made the element known'],
    expected: 'every element that was added',
    clauses: ['always'],
    partOf: [],
  },
  'stale-element': {
    title: 'an element added to a set is missed for a while',
    meaning: 'An element was added before a read began, the read misses it, and later ones have it.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read', 'what made the element known'],
    expected: 'every element that was added before the read began',
    clauses: ['always'],
    partOf: [],
  },
  'unexpected-element': {
    title: 'a read has an element nobody added',
    meaning: 'A read has an element that nobody added, or whose addition had failed.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read', 'the addition that failed'],
    expected: 'only elements that were added',
    clauses: ['always'],
    partOf: [],
  },
  'duplicate-element': {
    title: 'a read has an element twice',
    meaning: 'A read of a set has the same element more than once.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read', 'the addition'],
    expected: 'each element once',
    clauses: ['always'],
    partOf: [],
  },
  'counter-bounds': {
    title: 'a counter is read outside its bounds',
    meaning: 'A counter was read as less than was surely added, or as more than was perhaps added.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read'],
    expected: 'a value between what was surely and what was perhaps added',
    clauses: ['always'],
    partOf: [],
  },
  'long-fork': {
    title: 'two reads saw independent writes in opposite orders',
    meaning: 'Of two reads of the same keys each has seen a write that the other one has not.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['all reads of one transaction', 'all reads of the other one'],
    expected: 'one order of the writes for all readers',
    clauses: ['always'],
    partOf: ['G-nonadjacent', 'G2'],
  },
  'missing-earlier-write': {
    title: 'a read sees a write and misses an earlier one',
    meaning:
      'A read saw a write and missed another one that was made before, by the same process or in real time.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the read', 'the write seen', 'the earlier write missed'],
    expected: 'every write that came before one that was seen',
    clauses: ['always'],
    partOf: [],
  },
  'not-linearizable': {
    title: 'operations on one object fit no order within their times',
    meaning:
      'No order of the operations on a register or mutex, each between its begin and its end, explains their results.',
    oracles: ['workload'],
    shape: 'invariant',
    roles: ['the operation that fits no order', 'those that were open with it'],
    expected: 'an order in which each operation takes effect between its begin and its end',
    clauses: ['always'],
    partOf: [],
  },
} as const satisfies Readonly<Record<string, FindingKindRow>>;

type Table = typeof table;
type With<Part> = { [Kind in keyof Table]: Table[Kind] extends Part ? Kind : never }[keyof Table];
type OfKeyValue = {
  [Kind in keyof Table]: 'key-value' extends Table[Kind]['oracles'][number] ? Kind : never;
}[keyof Table];

/** A kind with a row of its own. */
export type BaseKind = keyof Table;

/** The oracles that come with Isolde, by what their rows say; `server`: no oracle of isolation; the server failed. */
export type KnownOracle = Table[BaseKind]['oracles'][number];

/** Anomalies: what a contract can forbid by name, and the probe looks for. */
export type Anomaly = With<{ readonly forbiddable: true }>;

/** Anomalies that are cycles of dependencies in a history of reads and writes. */
export type CycleAnomaly = OfKeyValue & With<{ readonly shape: 'cycle' }>;

/** Anomalies that single reads or versions show in a history of reads and writes. */
export type ReadAnomaly = OfKeyValue & With<{ readonly shape: 'read' }>;

/** A cycle that needs the order of sessions, or of the clock. */
export type OrderedCycle = `${CycleAnomaly}-session` | `${CycleAnomaly}-realtime`;

/** What key-value histories can show, and `--anomalies` names. */
export type GraphAnomaly = OfKeyValue | OrderedCycle;

/** The kind of a finding. */
export type FindingKind = BaseKind | OrderedCycle;

export interface FindingKindDescription extends Omit<FindingKindRow, 'partOf' | 'groupedAs'> {
  readonly kind: FindingKind;
  /** Without `-session` and `-realtime`. */
  readonly base: BaseKind;
  readonly partOf: readonly BaseKind[];
  readonly groupedAs?: BaseKind;
}

/** The rows of the table. */
export const baseKinds: readonly FindingKindDescription[] = (Object.keys(table) as BaseKind[]).map(
  (kind) => ({
    ...(table[kind] as FindingKindRow & { readonly groupedAs?: BaseKind }),
    kind,
    base: kind,
    partOf: table[kind].partOf,
  }),
);

const orderWords = { session: 'session order', realtime: 'real-time order' } as const;

function withOrder(row: FindingKindDescription, order: keyof typeof orderWords): FindingKindDescription {
  return {
    ...row,
    kind: `${row.base as CycleAnomaly}-${order}`,
    title: `${row.title}, by ${orderWords[order]}`,
    meaning: `${row.meaning} The cycle needs ${orderWords[order]}.`,
    // A contract that promises such an order says so in other words.
    partOf: [],
  };
}

const isKeyValue = ({ oracles }: FindingKindDescription): boolean => oracles.includes('key-value');

const described: readonly FindingKindDescription[] = baseKinds.flatMap((row) =>
  row.shape === 'cycle' && isKeyValue(row)
    ? [row, withOrder(row, 'session'), withOrder(row, 'realtime')]
    : [row],
);
const byKind: ReadonlyMap<string, FindingKindDescription> = new Map(described.map((row) => [row.kind, row]));

/** Every kind a finding can have. */
export const findingKinds: readonly FindingKind[] = described.map(({ kind }) => kind);

/** Cycles of dependencies, from the weakest guarantee broken to the strongest. */
export const cycleAnomalies: readonly CycleAnomaly[] = baseKinds
  .filter((row) => row.shape === 'cycle' && isKeyValue(row))
  .map(({ base }) => base as CycleAnomaly);

/** What key-value histories can show. */
export const graphAnomalies: readonly GraphAnomaly[] = described
  .filter(isKeyValue)
  .map(({ kind }) => kind as GraphAnomaly);

/** The row of a kind. */
export function describeKind(kind: FindingKind): FindingKindDescription {
  return byKind.get(kind)!;
}

/** A kind from text; undefined: there is none of that name. */
export function parseFindingKind(text: string): FindingKind | undefined {
  return byKind.get(text)?.kind;
}

/** The kind without `-session` and `-realtime`. */
export function baseKind(kind: FindingKind): BaseKind {
  return describeKind(kind).base;
}
