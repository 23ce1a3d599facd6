/**
 * No false alarm: free runs of generated workloads on correct engines, judged under the vendor's contract by the oracles
 * that hunts run, in turns. A finding is expected only where the engine has a known bug; anything else is printed with the
 * line that repeats it, and counts as a failure.
 */
import {
  explain,
  type Finding,
  type JudgedHistory,
  type Oracle,
  oracleNamed,
  oraclesFor,
  registerOracle,
} from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import { SessionPool } from '../execute/index.js';
import { capabilitiesOf, generate, observeTables } from '../generate/index.js';
import type { History, Operation } from '../histories/index.js';
import { runAndJudge, vendorContractAt } from '../judge/index.js';
import { parseStatement } from '../sql/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';

/** A bug of an engine's current release that an oracle is right to report. */
export interface KnownBug {
  readonly url: string;
  readonly level: Level;
  /** Kinds of finding it shows as. */
  readonly kinds: readonly string[];
  /** What the transaction must have done, for the bug to be the cause. */
  readonly after: (operation: Operation) => boolean;
  /** What must have happened at all. */
  readonly given?: (history: History) => boolean;
  readonly issue: string;
}

export const knownBugs: readonly KnownBug[] = [
  {
    url: 'mariadb:',
    level: 'repeatable read',
    kinds: ['own-write-missed', 'wrong-result'],
    after: (op) => op.kind === 'update' && (op.changed ?? 0) < (op.matched ?? 0),
    issue: 'MDEV-26642, an own update that changes nothing is not seen',
  },
  {
    url: 'mariadb:',
    level: 'repeatable read',
    kinds: ['own-write-missed', 'wrong-result', 'extra-row'],
    after: (op) => op.kind === 'delete' || op.kind === 'replace',
    issue: 'MySQL #105670 family, a row is still seen after an own delete',
  },
  {
    url: 'mariadb:',
    level: 'repeatable read',
    kinds: ['own-write-missed', 'wrong-result', 'extra-row', 'internal'],
    after: (op) => op.kind === 'update' || op.kind === 'delete',
    given: updatesKeys,
    issue: 'MySQL #113228 family, a row whose key changed is still seen under its old key after an own write',
  },
  ...(['read committed', 'repeatable read'] as const).map(
    (level): KnownBug => ({
      url: 'mariadb:?engine=rocksdb',
      level,
      kinds: ['lock-violated'],
      after: ({ sql = '' }) => /\bSHARE MODE SKIP LOCKED\b/i.test(sql),
      issue: 'MyRocks takes no lock for LOCK IN SHARE MODE SKIP LOCKED',
    }),
  ),
  {
    url: 'mariadb:?engine=rocksdb',
    level: 'repeatable read',
    kinds: [
      ...['lost-update', 'read-skew', 'read-write-skew', 'G-single', 'G-nonadjacent', 'fractured-snapshot'],
      ...['post-snapshot-read', 'update-of-changed-row', 'wrong-result', 'missing-row', 'extra-row'],
    ],
    after: ({ error }) => error !== undefined,
    issue: 'MyRocks takes another snapshot after a failed statement that had written',
  },
];

/** Whether somebody changed a column of a primary key. */
function updatesKeys({ header, operations }: History): boolean {
  const keys = new Set<string>();
  for (const sql of header.setup ?? []) {
    const statement = parseStatement(sql, header.dialect ?? 'postgres');
    if (statement.type !== 'create-table') continue;
    for (const { name, constraints } of statement.columns) {
      if (constraints.some(({ type }) => type === 'primary-key')) keys.add(`${statement.name}.${name}`);
    }
    for (const constraint of statement.constraints) {
      if (constraint.type !== 'primary-key') continue;
      for (const { expression } of constraint.columns) {
        if (expression.type === 'column') keys.add(`${statement.name}.${expression.name}`);
      }
    }
  }
  return operations.some((op) => {
    if (op.kind !== 'update' || op.outcome !== 'ok') return false;
    const statement = parseStatement(op.sql ?? '', header.dialect ?? 'postgres');
    if (statement.type !== 'update' || statement.table.type !== 'table') return false;
    const table = statement.table.name;
    return statement.set.some(({ columns }) => columns.some((column) => keys.has(`${table}.${column}`)));
  });
}

export const silentTargets: readonly { readonly url: string; readonly levels: readonly Level[] }[] = [
  { url: 'postgres:', levels: ['read committed', 'repeatable read', 'serializable'] },
  { url: 'mariadb:', levels: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'] },
  { url: 'mariadb:?engine=rocksdb', levels: ['read committed', 'repeatable read'] },
  { url: 'sqlite:', levels: ['serializable'] },
  { url: 'sqlite:?journal=delete', levels: ['serializable'] },
  { url: 'turso:', levels: ['serializable'] },
  { url: 'turso:?mode=mvcc', levels: ['snapshot'] },
];

/** Profiles take turns, so that every kind of statement meets every oracle. */
const profileTurns = [
  'simple',
  'contention',
  'mixed',
  'no-op',
  'predicates',
  'keys',
  'locking',
  'read-mostly',
];
const sessionCount = 6;
const transactionsPerSession = 8;

export interface SilenceOptions {
  readonly url: string;
  readonly level: Level;
  /** Stop after so many transactions. */
  readonly transactions: number;
  readonly seed: string;
  /** Only this round, to look at it again. */
  readonly round?: number;
  readonly print?: (line: string) => void;
}

export interface SilenceResult {
  readonly transactions: number;
  readonly statements: number;
  readonly failed: number;
  readonly readsJudged: number;
  readonly readsSkipped: number;
  /** Known bugs seen, by issue. */
  readonly known: Readonly<Record<string, number>>;
  readonly alarms: readonly Alarm[];
}

export interface Alarm {
  readonly round: number;
  readonly oracle: string;
  readonly finding: Finding;
  /** The command that repeats the round. */
  readonly replay: string;
}

/** Runs rounds on one engine at one level until enough transactions have ended. */
export async function listenForAlarms(options: SilenceOptions): Promise<SilenceResult> {
  const target = await openTarget(options.url);
  const remove = registerOracle(withoutReturning);
  try {
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 });
    const listener = new Listener(options, { target, scratch, sessions });
    for (let round = options.round ?? 0; !listener.isDone(round); round++) await listener.run(round);
    await sessions.close();
    return listener.result;
  } finally {
    remove();
    await target.close();
  }
}

const { rounds: _rounds, ...dependencyGraph } = oracleNamed('dependency-graph');

/** MariaDB has both ways of naming the rows that a statement wrote; its instrumented rounds take turns. */
const withoutReturning: Oracle = {
  ...dependencyGraph,
  name: 'dependency-graph-without-returning',
  prepare: (program, { target: { dialect }, contract }) =>
    dependencyGraph.prepare!(program, { target: { name: 'mysql', dialect }, contract }),
};

class Listener {
  readonly #contract: Contract;
  readonly #oracles: readonly Oracle[];
  readonly #tally = { transactions: 0, statements: 0, failed: 0, readsJudged: 0, readsSkipped: 0 };
  readonly #known: Record<string, number> = {};
  readonly #alarms: Alarm[] = [];

  constructor(
    private readonly options: SilenceOptions,
    private readonly place: {
      readonly target: Target;
      readonly scratch: Scratch;
      readonly sessions: SessionPool;
    },
  ) {
    this.#contract = vendorContractAt(place.target, options.level);
    this.#oracles = oraclesFor(this.#contract).filter(({ rounds }) => rounds !== undefined);
  }

  get result(): SilenceResult {
    return { ...this.#tally, known: this.#known, alarms: this.#alarms };
  }

  isDone(round: number): boolean {
    if (this.options.round !== undefined) return round > this.options.round;
    return this.#tally.transactions >= this.options.transactions;
  }

  /** One generated case, run for the oracle whose turn it is. */
  async run(round: number): Promise<void> {
    const { level, seed } = this.options;
    const turn = Math.floor(round / this.#oracles.length);
    const generated = generate(`${seed}/${round}`, {
      capabilities: capabilitiesOf(this.place.target),
      profile: profileTurns[turn % profileTurns.length]!,
      level,
      sessions: sessionCount,
      transactions: transactionsPerSession,
    });
    const judged = await runAndJudge(
      {
        case: generated.case,
        observe: observeTables(generated.tables),
        oracle: this.#oracleOf(round, Math.floor(turn / profileTurns.length)),
        level,
        contract: this.#contract,
      },
      this.place,
    );
    this.#count(judged);
    this.#report(round, judged);
  }

  #oracleOf(round: number, cycle: number): string {
    const { name } = this.#oracles[round % this.#oracles.length]!;
    return name === 'dependency-graph' && this.place.target.name === 'mariadb' && cycle % 2 === 1
      ? withoutReturning.name
      : name;
  }

  #count({ history, checked, skipped }: JudgedHistory): void {
    this.#tally.transactions += new Set(history.operations.map((op) => op.transaction)).size;
    this.#tally.statements += history.operations.length;
    this.#tally.failed += history.operations.filter((op) => op.outcome !== 'ok').length;
    this.#tally.readsJudged += checked?.reads ?? 0;
    for (const { what, count } of skipped) if (what === 'read') this.#tally.readsSkipped += count;
  }

  #report(round: number, { findings, history }: JudgedHistory): void {
    const { url, level, seed, print } = this.options;
    for (const finding of findings) {
      const own = new Set(finding.transactions.map(({ id }) => id));
      const before = history.operations.filter((op) => own.has(op.transaction));
      const bug = knownBugs.find(
        (each) =>
          each.url === url &&
          each.level === level &&
          each.kinds.includes(finding.kind) &&
          before.some(each.after) &&
          each.given?.(history) !== false,
      );
      if (bug !== undefined) {
        this.#known[bug.issue] = (this.#known[bug.issue] ?? 0) + 1;
        continue;
      }
      const replay = `npm run check:silence -- '${url}' '${level}' --seed ${seed} --round ${round}`;
      this.#alarms.push({ round, oracle: finding.oracle, finding, replay });
      print?.(`ALARM ${finding.oracle}: ${finding.kind} (${finding.clause})\n${explain(finding)}\n${replay}`);
    }
  }
}
