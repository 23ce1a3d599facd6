/**
 * No false alarm: generated programs on engines that are supposed to be correct, judged under the vendor's contract by the oracles that
 * hunts run. A finding is expected only where the engine has a known bug (`known-bugs.ts`); anything else is an alarm, printed with the
 * line that repeats its round, and counts as a failure.
 *
 * Rounds come in turns of nine: eight are those of a hunt (`hunt/round.ts`: templates, races, waits, every profile of the mix; seven by
 * schedule, one free), and one is a wide free run of a profile, many sessions with many transactions each, so that rows have many versions.
 */
import {
  explain,
  type Finding,
  isServerFailure,
  type JudgedHistory,
  type Oracle,
  oracleNamed,
  oraclesFor,
  registerOracle,
} from '../../check/index.js';
import type { Contract } from '../../contracts/index.js';
import { capabilitiesOf, generate, observeTables } from '../../generate/index.js';
import type { History } from '../../histories/index.js';
import { groupSize, Rounds } from '../../hunt/index.js';
import { Database, type RunRequest, vendorContractAt } from '../../judge/index.js';
import { openTarget } from '../../targets/index.js';
import { bugBehind } from './known-bugs.js';
import type { SilentPlace } from './targets.js';

/** Profiles of the wide runs take turns, so that every kind of statement meets every oracle. */
const profileTurns = [
  ...['simple', 'contention', 'mixed', 'no-op', 'predicates', 'keys', 'locking', 'read-mostly', 'queries'],
  'ddl-light',
];
const sessionCount = 6;
const transactionsPerSession = 12;
const turnSize = groupSize + 1;

export interface SilenceOptions extends SilentPlace {
  /** Stop after so many transactions. */
  readonly transactions: number;
  readonly seed: string;
  /** Only this round, to look at it again. */
  readonly round?: number;
  /** Turns that run at once, each in a namespace of its own. Default 1. */
  readonly lanes?: number;
  readonly print?: (line: string) => void;
  /** Called with each alarm at once; what it returns is printed with it. */
  readonly onAlarm?: (alarm: Alarm) => Promise<string>;
}

export interface SilenceCounts {
  readonly transactions: number;
  readonly rounds: number;
  /** Rounds whose set-up was refused. */
  readonly notRun: number;
  /** Failures of the server that did not come back with nothing else running. */
  readonly passing?: number;
  readonly statements: number;
  readonly failed: number;
  readonly readsJudged: number;
  readonly readsSkipped: number;
  /** Transactions by the kind of program they were part of. */
  readonly bySource: Readonly<Record<string, number>>;
  /** Findings that a known bug explains, by its report. */
  readonly known: Readonly<Record<string, number>>;
}

export interface SilenceResult extends SilenceCounts {
  /** The engine that answered. */
  readonly version: string;
  readonly alarms: readonly Alarm[];
}

export interface Alarm {
  readonly round: number;
  readonly finding: Finding;
  /** The command that repeats the round. */
  readonly replay: string;
  /** What happened; a free run is not the same twice. */
  readonly history: History;
}

/** Runs rounds on one engine at one level until enough transactions have ended. */
export async function listenForAlarms(options: SilenceOptions): Promise<SilenceResult> {
  const database = await Database.open({ open: () => openTarget(options.url) });
  const remove = registerOracle(withoutReturning);
  try {
    const listener = new Listener(options, database);
    if (options.round === undefined)
      await Promise.all(Array.from({ length: options.lanes ?? 1 }, (_, lane) => listener.listen(lane)));
    else await listener.run(options.round);
    return listener.result;
  } finally {
    remove();
    await database.close();
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

/** A round, and the kind of program that it runs. */
interface SilenceRound {
  readonly source: string;
  readonly request: RunRequest;
}

class Listener {
  readonly #contract: Contract;
  readonly #oracles: readonly Oracle[];
  /** One for each lane: each keeps the program it is at. */
  readonly #rounds: readonly Rounds[];
  #nextTurn = 0;
  readonly #tally = {
    ...{
      transactions: 0,
      rounds: 0,
      notRun: 0,
      passing: 0,
      statements: 0,
      failed: 0,
      readsJudged: 0,
      readsSkipped: 0,
    },
  };
  readonly #bySource: Record<string, number> = {};
  readonly #known: Record<string, number> = {};
  readonly #alarms: Alarm[] = [];

  constructor(
    private readonly options: SilenceOptions,
    private readonly database: Database,
  ) {
    const { level, seed, lanes = 1 } = options;
    const { target } = database;
    this.#contract = vendorContractAt(target, level);
    this.#oracles = oraclesFor(this.#contract).filter(({ rounds }) => rounds !== undefined);
    const roundOptions = {
      seed,
      capabilities: capabilitiesOf(target),
      ...(target.nodes && { nodes: target.nodes }),
      levels: [level],
      oracles: this.#oracles.map(({ name, rounds = 1 }) => ({ name, rounds })),
    };
    this.#rounds = Array.from({ length: lanes }, () => new Rounds(roundOptions));
  }

  get result(): SilenceResult {
    const { name, version } = this.database.target.stamp;
    return {
      ...this.#tally,
      bySource: this.#bySource,
      known: this.#known,
      version: `${name} ${version}`,
      alarms: this.#alarms,
    };
  }

  /** Turns of a lane, until all lanes together have run enough. */
  async listen(lane: number): Promise<void> {
    const isDone = () => this.#tally.transactions >= this.options.transactions;
    while (!isDone()) {
      const first = this.#nextTurn++ * turnSize;
      for (let round = first; round < first + turnSize && !isDone(); round++) await this.run(round, lane);
    }
  }

  async run(number: number, lane = 0): Promise<void> {
    const [turn, place] = [Math.floor(number / turnSize), number % turnSize];
    const { source, request } =
      place === groupSize ? this.#wide(turn) : this.#small(turn * groupSize + place, lane);
    const observed = await this.database.observe({ ...request, contract: this.#contract }, lane);
    if (observed.kind !== 'ran') {
      this.#tally.notRun++;
      return;
    }
    this.#count(source, observed);
    for (const finding of observed.findings)
      if (!isServerFailure(finding) || (await this.#comesBack(finding, request, lane)))
        await this.#report(number, finding, observed.history);
  }

  /**
   * Whether a server fails again with nothing else running, as it must in hunts: on a busy machine an answer can take longer than the limit,
   * and what another lane did to the server is not this round's.
   */
  async #comesBack({ kind }: Finding, request: RunRequest, lane: number): Promise<boolean> {
    const again = await this.database.alone((observe) =>
      observe({ ...request, contract: this.#contract }, lane),
    );
    const shows = again.kind === 'ran' && again.findings.some((finding) => finding.kind === kind);
    if (!shows) this.#tally.passing++;
    return shows;
  }

  #small(number: number, lane: number): SilenceRound {
    const { source, ...request } = this.#rounds[lane]!.round(number);
    return { source: source.startsWith('template') ? 'templates' : source, request };
  }

  /** A wide free run, for the oracle whose turn it is. */
  #wide(turn: number): SilenceRound {
    const { level, seed } = this.options;
    const cycle = Math.floor(turn / this.#oracles.length);
    const profile = profileTurns[cycle % profileTurns.length]!;
    const generated = generate(`${seed}/${turn}`, {
      capabilities: capabilitiesOf(this.database.target),
      ...{ profile, level, sessions: sessionCount, transactions: transactionsPerSession },
    });
    const oracle = this.#oracleOf(turn, Math.floor(cycle / profileTurns.length));
    const observe = observeTables(generated.tables);
    return { source: `wide runs of ${profile}`, request: { case: generated.case, observe, oracle, level } };
  }

  #oracleOf(turn: number, cycle: number): string {
    const { name } = this.#oracles[turn % this.#oracles.length]!;
    return name === 'dependency-graph' && this.database.target.name === 'mariadb' && cycle % 2 === 1
      ? withoutReturning.name
      : name;
  }

  #count(source: string, { history, checked, skipped }: JudgedHistory): void {
    const { operations } = history;
    const transactions = new Set(operations.map((op) => op.transaction)).size;
    this.#tally.rounds++;
    this.#tally.transactions += transactions;
    this.#bySource[source] = (this.#bySource[source] ?? 0) + transactions;
    this.#tally.statements += operations.length;
    this.#tally.failed += operations.filter((op) => op.outcome !== 'ok').length;
    this.#tally.readsJudged += checked?.reads ?? 0;
    for (const { what, count } of skipped) if (what === 'read') this.#tally.readsSkipped += count;
  }

  async #report(round: number, finding: Finding, history: History): Promise<void> {
    const { url, level, seed, print, onAlarm } = this.options;
    const bug = bugBehind(finding, history, { url, level });
    if (bug !== undefined) {
      this.#known[bug.report] = (this.#known[bug.report] ?? 0) + 1;
      return;
    }
    const replay = `npm run check:silence -- '${url}' '${level}' --seed ${seed} --round ${round}`;
    const alarm: Alarm = { round, finding, replay, history };
    this.#alarms.push(alarm);
    const kept = (await onAlarm?.(alarm)) ?? '';
    print?.(
      `ALARM ${finding.oracle}: ${finding.kind} (${finding.clause})\n${explain(finding)}\n${replay}\n${kept}`,
    );
  }
}
