/**
 * The page of a bug as data: the report, the interleaving as lanes, the trace a debugger steps through, and the graph of
 * dependencies. Everything comes from the stages that know it; here it is only put together.
 */

import {
  type CycleEdge,
  edgeLabel,
  type Finding,
  type MechanismTrace,
  showObservation,
  traceMechanism,
} from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import { type History, interleave, transactionNames } from '../histories/index.js';
import type { OperationId, SessionId, TransactionId } from '../ids.js';
import { candidateOf, dependencyGraph, modelOf, sqlAccesses } from '../reduce/index.js';
import type { Bug } from './bug.js';
import { type ReportDocument, reportDocument } from './document.js';
import { witnessOperations } from './evidence.js';
import { mechanismOf } from './mechanism-of.js';
import { type PhrasePart, phraseParts } from './phrases.js';
import { shownText } from './shown.js';

export interface BugPage {
  readonly id: string;
  readonly report: Omit<ReportDocument, 'summary' | 'argument'> & {
    readonly summary: readonly (readonly PhrasePart[])[];
    readonly argument: readonly (readonly PhrasePart[])[];
  };
  readonly run: RunPage;
}

/** A run that was judged, with or without a finding. */
export interface RunPage {
  readonly sessions: readonly string[];
  readonly entries: readonly LaneEntry[];
  readonly trace: RunTrace;
  /** The state before the first line, then after each; empty without a trace. */
  readonly steps: readonly StepState[];
  readonly graph: DependencyPicture;
  /** What operations did or saw against what the contract allows, where that is the finding. */
  readonly wrong: readonly WrongAnswer[];
}

/** `hidden`: how many rows are left out. */
export type ShownTrace = MechanismTrace & { readonly hidden: number };
export type RunTrace = ShownTrace | { readonly untraced: string };

/** What a debugger shows after a line of the interleaving. */
export interface StepState {
  /** The moment of the trace: after the last operation that was answered by then. */
  readonly moment: number;
  /** Statements that were sent and not answered yet. */
  readonly waits: readonly Wait[];
}

export interface Wait {
  readonly transaction: string;
  /** The rows it goes on to write or lock, and who has them now; empty: that cannot be told. */
  readonly for: readonly { readonly object: string; readonly owner: string }[];
}

export interface WrongAnswer {
  readonly operation: OperationId;
  readonly object: string;
  readonly seen: string;
  readonly allowed: readonly string[];
}

/** One line of the interleaving: what one session shows at that moment. */
export interface LaneEntry {
  readonly session: SessionId;
  readonly operation: OperationId;
  readonly transaction: string;
  readonly part: 'whole' | 'sent' | 'answered';
  readonly kind: string;
  readonly sql?: string;
  readonly result: string;
  readonly failed: boolean;
  readonly begins?: string;
  /** It is among the operations that prove the finding. */
  readonly witness: boolean;
}

export interface DependencyPicture {
  readonly nodes: readonly DependencyNode[];
  readonly edges: readonly DependencyEdge[];
  /** Whether the edges are the finding's proof, or only who used what of whom. */
  readonly proves: boolean;
}

export interface DependencyNode {
  readonly transaction: string;
  readonly operations: readonly { readonly index: OperationId; readonly text: string }[];
  readonly fate: 'committed' | 'rolled back' | 'open';
}

export interface DependencyEdge {
  readonly from: string;
  readonly to: string;
  /** `ww`, `wr`, `rw`, …; `uses`: the second saw or replaced what the first wrote. */
  readonly kind: string;
  readonly label: string;
  readonly operations: readonly OperationId[];
}

export function bugPage(bug: Bug): BugPage {
  const { summary, argument, ...report } = reportDocument(bug);
  const { transactions } = bug.finding;
  return {
    id: bug.id,
    report: {
      ...report,
      summary: phraseParts({ explanation: summary, transactions: [] }),
      argument: phraseParts({ explanation: argument, transactions }),
    },
    run: runPage(bug.history, {
      witnesses: new Set(witnessOperations(bug).map(({ index }) => index)),
      finding: bug.finding,
      contract: mechanismOf(bug),
      scheduled: bug,
    }),
  };
}

/** What a run page needs besides the history. */
export interface RunFacts {
  readonly witnesses: ReadonlySet<OperationId>;
  readonly finding: Finding | undefined;
  readonly contract: Contract | undefined;
  readonly scheduled: Pick<Bug, 'case' | 'schedule'>;
}

/** Lanes and chains must stay readable; the case itself is shown in full elsewhere. */
const longest = { sql: 600, cell: 300 };

export function runPage(history: History, { witnesses, finding, contract, scheduled }: RunFacts): RunPage {
  const { cycle, versions = [] } = finding ?? {};
  const names = transactionNames(history);
  const nameOf = (transaction: TransactionId): string => names.get(transaction) ?? String(transaction);
  const entries = interleave(history).map(
    ({ session, operation, part, sql, result, failed, begins }): LaneEntry => ({
      session,
      operation: operation.index,
      transaction: nameOf(operation.transaction),
      part,
      kind: operation.kind,
      ...(sql !== undefined && { sql: shownText(sql, longest.sql) }),
      result: shownText(result, longest.cell),
      failed,
      ...(begins !== undefined && { begins }),
      witness: witnesses.has(operation.index),
    }),
  );
  const trace = traceOf(history, contract, new Set(versions.map(({ object }) => object)));
  return {
    sessions: history.header.sessions,
    entries,
    trace,
    steps: 'untraced' in trace ? [] : stepStates(entries, trace.moments),
    graph:
      cycle !== undefined && cycle.length > 1
        ? { nodes: nodesOf(history), edges: cycleEdges(cycle, nameOf), proves: true }
        : { nodes: nodesOf(history), edges: usedEdges(history, scheduled, nameOf), proves: false },
    wrong: versions.map(({ operation, object, seen, allowed }) => ({
      ...{ operation, object },
      seen: showObservation(seen),
      allowed: allowed.map(showObservation),
    })),
  };
}

const mostOperations = 400;
/** Rows that nothing happens to are shown up to this number; whatever happens to more than so many rows, nobody reads. */
const mostRows = { quiet: 8, busy: 60 };

function traceOf(history: History, contract: Contract | undefined, about: ReadonlySet<string>): RunTrace {
  const { operations } = history;
  if (contract === undefined) return { untraced: 'nobody wrote down how this engine works at this level' };
  if (operations.length > mostOperations)
    return { untraced: `it has ${operations.length} operations; up to ${mostOperations} are traced` };
  const trace = traceMechanism(history, contract);
  return 'untraced' in trace ? trace : withShortCells(withFewRows(trace, about));
}

/** The rows the finding is about and those that something happens to, then a few others. */
function withFewRows(trace: MechanismTrace, about: ReadonlySet<string>): ShownTrace {
  const all = new Map<string, boolean>();
  for (const { rows } of trace.moments)
    for (const { object, versions, locks } of rows)
      all.set(object, all.get(object) === true || versions.length > 1 || locks.length > 0);
  const busy = [...all].flatMap(([object, isBusy]) => (isBusy && !about.has(object) ? [object] : []));
  const quiet = [...all].flatMap(([object, isBusy]) => (isBusy || about.has(object) ? [] : [object]));
  const kept = new Set([...about, ...busy.slice(0, mostRows.busy), ...quiet.slice(0, mostRows.quiet)]);
  const hidden = [...all.keys()].filter((object) => !kept.has(object)).length;
  if (hidden === 0) return { ...trace, hidden };
  const isKept = ({ object }: { readonly object: string }) => kept.has(object);
  const moments = trace.moments.map(({ after, rows, transactions, reads }) => ({
    after,
    rows: rows.filter(isKept),
    transactions: transactions.map(({ sees, ...rest }) => ({
      ...rest,
      ...(sees !== undefined && {
        sees: Object.fromEntries(Object.entries(sees).filter(([object]) => kept.has(object))),
      }),
    })),
    reads: reads.filter(isKept),
  }));
  return { ...trace, moments, hidden };
}

function withShortCells(trace: ShownTrace): ShownTrace {
  const cut = (text: string) => shownText(text, longest.cell);
  const moments = trace.moments.map((moment) => ({
    ...moment,
    rows: moment.rows.map((row) => ({
      ...row,
      versions: row.versions.map((version) => ({ ...version, values: version.values.map(cut) })),
    })),
    reads: moment.reads.map(({ returned, ...read }) =>
      returned === undefined ? read : { ...read, returned: cut(returned) },
    ),
  }));
  return { ...trace, moments };
}

/** One walk over the lines: an operation that is sent waits until its answer is there. */
function stepStates(entries: readonly LaneEntry[], moments: MechanismTrace['moments']): StepState[] {
  const places = new Map(moments.map(({ after }, i) => [after, i]));
  const sent = new Map<OperationId, LaneEntry>();
  let moment = 0;
  const states: StepState[] = [{ moment, waits: [] }];
  for (const entry of entries) {
    if (entry.part === 'sent') sent.set(entry.operation, entry);
    else {
      sent.delete(entry.operation);
      moment = places.get(entry.operation) ?? moment;
    }
    const waits = [...sent.values()].map(({ operation, transaction }) => ({
      transaction,
      for: holdersOf(operation, moments[moment]!, moments),
    }));
    states.push({ moment, waits });
  }
  return states;
}

type Moment = MechanismTrace['moments'][number];

/** Who has the rows that a waiting operation writes or locks once it goes on. */
function holdersOf(operation: OperationId, now: Moment, moments: readonly Moment[]): Wait['for'] {
  const later = moments.find(({ after }) => after === operation);
  const names = new Map(moments.at(-1)!.transactions.map(({ id, name }) => [id, name]));
  const touched = (later?.rows ?? []).flatMap(({ object, versions, locks }) => {
    const own = [
      ...versions.filter((version) => version.operation === operation).map(({ writer }) => writer),
      ...locks.filter((lock) => lock.operation === operation).map(({ owner }) => owner),
    ];
    return own.length === 0 ? [] : [{ object, own: own[0] }];
  });
  return touched.flatMap(({ object, own }) => {
    const row = now.rows.find((each) => each.object === object);
    const owners = new Set([
      ...(row?.locks ?? []).map(({ owner }) => owner),
      ...(row?.versions ?? []).filter(({ fate }) => fate === 'uncommitted').map(({ writer }) => writer),
    ]);
    owners.delete(own);
    return [...owners].flatMap((owner) =>
      owner === undefined ? [] : [{ object, owner: names.get(owner) ?? String(owner) }],
    );
  });
}

function nodesOf(history: History): DependencyNode[] {
  const nodes: DependencyNode[] = [];
  for (const [id, transaction] of transactionNames(history)) {
    const operations = history.operations.filter((operation) => operation.transaction === id);
    const ends = operations.at(-1)?.ends;
    nodes.push({
      transaction,
      operations: operations.map(({ index, sql, kind }) => ({ index, text: sql ?? kind })),
      fate: ends === 'commit' ? 'committed' : ends === 'rollback' ? 'rolled back' : 'open',
    });
  }
  return nodes;
}

function cycleEdges(cycle: readonly CycleEdge[], nameOf: (id: TransactionId) => string): DependencyEdge[] {
  return cycle.map((edge) => ({
    from: nameOf(edge.from),
    to: nameOf(edge.to),
    kind: edge.kind,
    label: edgeLabel(edge),
    operations: [edge.fromOperation, edge.toOperation].filter((index) => index !== undefined),
  }));
}

/** Between transactions: who saw or replaced what another one wrote, as reduction reckons it. */
function usedEdges(
  history: History,
  { case: program, schedule }: RunFacts['scheduled'],
  nameOf: (id: TransactionId) => string,
): DependencyEdge[] {
  const model = modelOf(candidateOf({ case: program, schedule }));
  const dialect = program.dialect ?? history.header.dialect ?? 'postgres';
  const { successors } = dependencyGraph(model, sqlAccesses(model, dialect, history));
  const byStatement = new Map(
    history.operations.map((operation) => [String(operation.statement), operation]),
  );
  const edges = new Map<string, DependencyEdge>();
  successors.forEach((targets, source) => {
    const from = byStatement.get(String(model.operations[source]!.ref));
    for (const target of targets) {
      const to = byStatement.get(String(model.operations[target]!.ref));
      if (from === undefined || to === undefined || from.transaction === to.transaction) continue;
      const [a, b] = [nameOf(from.transaction), nameOf(to.transaction)];
      const known = edges.get(JSON.stringify([a, b]))?.operations ?? [];
      const operations = [...new Set([...known, from.index, to.index])];
      edges.set(JSON.stringify([a, b]), {
        from: a,
        to: b,
        kind: 'uses',
        label: 'uses what it wrote',
        operations,
      });
    }
  });
  return [...edges.values()];
}
