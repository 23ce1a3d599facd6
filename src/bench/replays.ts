/**
 * Does the order inferred from a free run bring its answers back? Random programs in which nearly every statement meets another run
 * freely on a real engine; each history is replayed in the order inferred from it, and learnt from as `isolde reproduce` does. A
 * replay that still diverges must have been named: the statement where it diverges is one that the inference called open.
 */
import { type Contract, findContract, type Level } from '../contracts/index.js';
import { runFree, SessionPool } from '../execute/index.js';
import { begunBy, capabilitiesOf, caseOfRows, contendedProgram, Random } from '../generate/index.js';
import type { History } from '../histories/index.js';
import { type Difference, namedBefore, openInference, refineOrder, replay } from '../reproduce/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';

export interface ReplayEngine {
  /** As the page calls it. */
  readonly title: string;
  readonly url: string;
  readonly level: Level;
  /** It has SELECT … FOR UPDATE. */
  readonly locking: boolean;
}

const innodb: readonly Level[] = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];

function levels(name: string, url: string, list: readonly Level[], locking = true): readonly ReplayEngine[] {
  return list.map((level) => ({ title: `${name} ${level.toUpperCase()}`, url, level, locking }));
}

/** The places of the page's table, in its order. */
export const replayEngines: readonly ReplayEngine[] = [
  { title: 'SQLite', url: 'sqlite:', level: 'serializable', locking: false },
  { title: 'SQLite, rollback journal', url: 'sqlite:?journal=delete', level: 'serializable', locking: false },
  { title: 'Turso', url: 'turso:', level: 'serializable', locking: false },
  { title: 'Turso, MVCC', url: 'turso:?mvcc', level: 'snapshot', locking: false },
  { title: 'DuckDB', url: 'duckdb:', level: 'snapshot', locking: false },
  ...levels('MariaDB', 'mariadb:', innodb),
  ...levels('MariaDB 11.8', 'mariadb@11.8:', ['read committed', 'repeatable read', 'serializable']),
  ...levels('MyRocks', 'mariadb:?engine=rocksdb', ['read committed', 'repeatable read']),
  ...levels('MySQL', 'mysql:', innodb),
  ...levels('PostgreSQL', 'postgres:', ['read committed', 'repeatable read', 'serializable']),
  ...levels('H2', 'h2:', [
    'read uncommitted',
    'read committed',
    'repeatable read',
    'snapshot',
    'serializable',
  ]),
  ...levels('HSQLDB, LOCKS', 'hsqldb:', ['read committed', 'serializable'], false),
  ...levels('HSQLDB, MVLOCKS', 'hsqldb:?tx=mvlocks', ['read committed', 'serializable'], false),
  ...levels('HSQLDB, MVCC', 'hsqldb:?tx=mvcc', ['read committed', 'serializable'], false),
  ...levels('Derby', 'derby:', innodb, false),
];

/** What came of one history. */
export interface HistoryReplayed {
  readonly seed: number;
  readonly history: History;
  /** Replays until one saw everything, or until nothing else was left to try. */
  readonly replays: number;
  /** Where the best replay diverges; absent: it saw everything. */
  readonly difference?: Difference;
  /** What the inference had said of the statement that diverges. */
  readonly named: readonly string[];
  /** Statements that are not sent again, by why. */
  readonly leftOut: readonly string[];
}

const limits = { statementTimeoutMs: 10_000, lockTimeoutMs: 3_000 };

/** A server, and what runs on it at one level. */
export class ReplayLab {
  readonly #contract: Contract;
  readonly #sessions: SessionPool;

  private constructor(
    private readonly engine: ReplayEngine,
    private readonly target: Target,
    private readonly scratch: Scratch,
  ) {
    const found = target.levels.find(({ level }) => level === engine.level);
    this.#contract = findContract(found!.contract)!;
    this.#sessions = new SessionPool(scratch, limits);
  }

  static async open(engine: ReplayEngine): Promise<ReplayLab> {
    const target = await openTarget(engine.url);
    return new ReplayLab(engine, target, await target.createScratch());
  }

  get version(): string {
    return `${this.target.stamp.name} ${this.target.stamp.version}`;
  }

  /** A random program: 12 sessions on 12 rows; every third writes values that recur. */
  async run(seed: number): Promise<History> {
    const values = seed % 3 === 0 ? 6 : 0;
    const mix = { rows: 12, sessions: 12, transactions: 4, values, wide: true, rangeWrites: true };
    const program = contendedProgram(new Random(`replay ${seed}`), mix);
    const drawn = {
      ...caseOfRows(`random ${seed}`, program, this.engine.locking),
      level: this.engine.level,
    };
    return runFree(this.scratch, begunBy(drawn, capabilitiesOf(this.target)), this.#options());
  }

  async replay(seed: number, history: History, mostReplays: number): Promise<HistoryReplayed> {
    const inference = openInference(history, this.#contract);
    const first = inference.order();
    const { report, replays } = await refineOrder(
      inference,
      (order) => replay(this.scratch, order, 'batch', this.#options()),
      { first, mostReplays },
    );
    const difference = report.firstDifference;
    return {
      ...{ seed, history, replays, leftOut: first.leftOut.map(({ why }) => why) },
      ...(difference && { difference }),
      named: difference === undefined ? [] : namedBefore(first, difference.operation),
    };
  }

  async close(): Promise<void> {
    await this.#sessions.close();
    await this.target.close();
  }

  #options() {
    return { target: this.target, level: this.engine.level, sessions: this.#sessions };
  }
}
