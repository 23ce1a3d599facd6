/**
 * Judges the history of an instrumented run: against a contract, or against a level of the lattice.
 *
 * A contract is applied clause by clause (`contract-rules.ts`). A level is judged by all cycles of dependencies, session
 * order and real time included, each of which says which levels it rules out. Either way the answer names the
 * strongest levels that nothing in the history rules out.
 *
 * `valid` is true when nothing was found and everything could be seen, false when something was found, and unknown
 * when nothing was found but a part of the case ran unseen: that part could hide anything.
 */
import type { Contract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph } from '../graph/graph.js';
import { addRealTimeOrder, addSessionOrder } from '../graph/real-time.js';
import { type CheckLevel, checkLevels, implies, ruledOut, strongestOf } from '../levels.js';
import { applyContract, exemptsLockingReads, isExempt } from './contract-rules.js';
import { type Dependencies, edgesOf, inferDependencies } from './dependencies.js';
import type { Instrumented } from './instrumented.js';
import { observerId, type RowProblem } from './list-reader.js';
import { findLostWrites } from './lost-writes.js';
import { RowFindings } from './row-findings.js';
import { stripResults } from './strip-results.js';
import { compareWrites } from './write-matches.js';

export interface InstrumentedCheckOptions {
  readonly contract?: Contract;
  /** Used when there is no contract; serializable by default. */
  readonly level?: CheckLevel;
}

export interface InstrumentedCheck {
  readonly valid: boolean | 'unknown';
  /** The strongest levels that nothing found rules out. */
  readonly strongest: readonly CheckLevel[];
  readonly findings: readonly Finding[];
  /** What was not seen, and why. */
  readonly notes: readonly string[];
  /** The history as the author of the case knows it; findings refer to its operations. */
  readonly history: History;
}

export function checkInstrumented(
  history: History,
  instrumented: Instrumented,
  options: InstrumentedCheckOptions = {},
): InstrumentedCheck {
  const stripped = stripResults(history, instrumented);
  const all = inferDependencies(history, instrumented);
  const dependencies = sameLevel(all, history);
  const problems = [
    ...dependencies.problems,
    ...findLostWrites(history, dependencies.events, dependencies, instrumented),
    ...compareWrites(dependencies.events, dependencies),
  ];
  const findings = new RowFindings(dependencies, stripped);
  const notes = notesOf(instrumented, dependencies, history);
  const { contract } = options;
  const general = generalCycles(dependencies, history, contract);
  const broken = [
    ...problems.map((problem) => findings.problem(problem)),
    ...general.cycles.map((cycle) => findings.cycle(cycle)),
  ];
  const out = ruledOut(broken.flatMap(({ rulesOut }) => [...rulesOut]));
  const strongest = strongestOf(checkLevels.filter((level) => !out.has(level)));
  let reported: Finding[];
  if (contract === undefined) {
    const level = options.level ?? 'serializable';
    reported = broken.filter(({ rulesOut }) => rulesOut.some((weak) => implies(level, weak)));
    notes.push(...general.undecided.map((family) => `the search for ${family} ended at its budget`));
  } else {
    const rules = applyContract(dependencies, contract);
    reported = [
      ...problems.flatMap((problem) => {
        const clause = clauseOf(problem, contract);
        return clause === undefined ? [] : [findings.problem(problem, { contract: contract.id, clause })];
      }),
      ...rules.cycles.map(({ cycle, clause }) => findings.cycle(cycle, { contract: contract.id, clause })),
    ];
    notes.push(
      ...rules.undecided.map((clause) => `the search for what ${contract.id} ${clause} ended at its budget`),
    );
  }
  const found = withoutRepeats(reported);
  const valid = found.length > 0 ? false : notes.length > 0 ? 'unknown' : true;
  return { valid, strongest, findings: found, notes, history: stripped.history };
}

/** Only transactions at the level the contract is for: another one may do what it likes. */
function sameLevel(dependencies: Dependencies, { header }: History): Dependencies {
  const others = header.sessionLevels ?? {};
  const differs = (tx: number): boolean => {
    const session = dependencies.events.transactions.get(tx)?.session;
    return session !== undefined && Object.hasOwn(others, String(session));
  };
  if (Object.keys(others).length === 0) return dependencies;
  return {
    ...dependencies,
    list: dependencies.list.filter(({ from, to }) => !differs(from) && !differs(to)),
    problems: dependencies.problems.filter(({ transaction }) => !differs(transaction)),
  };
}

function generalCycles(dependencies: Dependencies, history: History, contract: Contract | undefined) {
  const exempt = exemptsLockingReads(contract);
  const edges = edgesOf(dependencies, (each) => !exempt || !isExempt(each));
  const { txCount, events, counts } = dependencies;
  const counted = new Uint8Array(txCount);
  const sessions = new Int32Array(txCount).fill(-1);
  const starts = new Float64Array(txCount).fill(Number.NaN);
  const ends = new Float64Array(txCount).fill(Number.NaN);
  for (const { id, session, operations } of events.transactions.values()) {
    if (!counts.has(id) || Object.hasOwn(history.header.sessionLevels ?? {}, String(session))) continue;
    counted[id] = 1;
    sessions[id] = session;
    starts[id] = operations[0]!.start;
    ends[id] = operations.at(-1)!.end ?? Number.NaN;
  }
  addSessionOrder(edges, sessions, counted);
  addRealTimeOrder(edges, starts, ends, counted);
  const { cycles, undecided } = findCycles(buildGraph(edges));
  return { cycles, undecided: undecided.map(({ family }) => family) };
}

/** The clause a problem breaks; undefined when the contract allows it. */
function clauseOf({ kind, transaction }: RowProblem, { forbids }: Contract): string | undefined {
  switch (kind) {
    case 'G1a':
      // Rolled back and still there when all is over: no contract is about that, and none allows it.
      if (transaction === observerId) return 'what is rolled back is gone';
      return forbids.includes('G1a') ? 'forbids G1a' : undefined;
    case 'G1b':
      return forbids.includes('G1b') ? 'forbids G1b' : undefined;
    case 'internal':
    case 'future-read':
      return forbids.includes('own-write-missed') ? 'forbids own-write-missed' : undefined;
    case 'incompatible-order':
      return forbids.includes('lost-update-expression') ? 'forbids lost-update-expression' : undefined;
    case 'lost-write':
      return 'what is committed stays';
    case 'write-missed-row':
    case 'write-extra-row':
      return forbids.includes('PMP-write') ? 'forbids PMP-write' : undefined;
    case 'garbage-read':
    case 'duplicate-write':
      return 'rows hold what was written to them';
    default:
      return kind satisfies never;
  }
}

function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ kind, transactions, cycle, versions }) => {
    const ids = transactions.map(({ id }) => id).sort((a, b) => a - b);
    const objects =
      cycle === undefined ? versions?.map(({ object }) => object) : cycle.map(({ object }) => object);
    const key = JSON.stringify([kind, ids, cycle === undefined ? objects : objects?.toSorted()]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function notesOf(instrumented: Instrumented, { events }: Dependencies, history: History): string[] {
  const { unseenTables, unseenReads, opaque } = instrumented;
  const notes = unseenTables.map(
    ({ name, reason }) => `dependencies through table ${name} were not seen (${reason})`,
  );
  if (opaque.length > 0)
    notes.push(`${opaque.length} statements ran untouched because they were not understood`);
  if (unseenReads.length > 0) {
    notes.push(`the rows read by ${unseenReads.length} statements were not seen (${unseenReads[0]!.reason})`);
  }
  if (events.silent > 0) {
    notes.push(`${events.silent} writes took no row, so the rows they read besides were not seen`);
  }
  if (events.cut > 0)
    notes.push(`the database cut off ${events.cut} lists of rows; raise group_concat_max_len`);
  if (instrumented.observe.length > 0 && events.after === undefined && history.operations.length > 0) {
    notes.push('there is no closing read: versions nobody read were not seen');
  }
  return notes;
}
