/**
 * Findings about rows: from cycles and single reads to data with the author's own statements. A finding names the
 * operations that show it, the judged one first; its explanation quotes the whole transactions they belong to.
 */

import { type History, type Operation, transactionNames } from '../../histories/index.js';
import { showValue } from '../../sql/index.js';
import { describeTransactions, explainCycle } from '../explain.js';
import {
  ofData,
  ofOperation,
  ofRow,
  type Phrase,
  type Piece,
  phrase,
  type Step,
  say,
} from '../explanation.js';
import type { CycleEdge, Finding, FindingOperation, FindingTransaction } from '../finding.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { edgeNames, predicateRw, realTime, rw, sessionOrder, wr } from '../graph/graph.js';
import { cycleRulesOut, nameCycle } from '../graph/name-cycle.js';
import type { CheckLevel } from '../levels.js';
import { showObservation } from '../observation.js';
import { type Dependencies, type Dependency, dependencyKey } from './dependencies.js';
import { observerId, type RowProblem } from './list-reader.js';
import type { StrippedHistory } from './strip-results.js';

export interface BrokenClause {
  readonly contract: string;
  readonly clause: string;
}

export class RowFindings {
  readonly #byKey = new Map<string, Dependency>();
  readonly #operations: ReadonlyMap<number, readonly Operation[]>;

  constructor(
    private readonly dependencies: Dependencies,
    private readonly stripped: StrippedHistory,
  ) {
    for (const each of dependencies.list) {
      this.#byKey.set(dependencyKey(each.from, each.to, each.kind, each.row), each);
    }
    this.#operations = groupByTransaction(stripped.history);
  }

  /** How a person knows a row. Rows made and gone within the run have only their id. */
  label(rid: string): string {
    const { labels } = this.dependencies.events;
    const label = labels.get(rid);
    const table = this.dependencies.chains.find((chain) => chain.rid === rid)?.table ?? '';
    return label === undefined ? `${table}/${rid}` : label;
  }

  cycle(cycle: FamilyCycle, broken?: BrokenClause): Finding {
    const edges = cycle.nodes.map((from, i): CycleEdge => {
      const to = cycle.nodes[(i + 1) % cycle.nodes.length]!;
      return this.#edge(from, to, cycle.kinds[i]!, cycle.refs[i]!);
    });
    const parts = { transactions: cycle.nodes.map((id) => this.#transaction(id)), cycle: edges };
    const all = cycle.nodes.flatMap((id) => this.#operationsOf(id));
    return {
      kind: nameCycle(cycle),
      oracle: 'dependency-graph',
      certainty: 'proved',
      rulesOut: cycleRulesOut(cycle),
      ...broken,
      ...parts,
      operations: named(
        all,
        edges.flatMap(({ fromOperation, toOperation }) => [fromOperation, toOperation]),
      ),
      explanation: explainCycle({ ...parts, operations: all }),
    };
  }

  problem(problem: RowProblem, broken?: BrokenClause): Finding {
    const ids = [problem.transaction, problem.other].filter((id) => id !== undefined && id !== observerId);
    const known = [...new Set(ids as number[])].filter((id) => this.dependencies.events.transactions.has(id));
    const transactions = known.map((id) => this.#transaction(id));
    const all = known.flatMap((id) => this.#operationsOf(id));
    const [at, other] = [problem.operation, problem.otherOperation].map((raw) =>
      raw === undefined ? -1 : this.#index(raw),
    ) as [number, number];
    return {
      kind: problem.kind,
      oracle: 'dependency-graph',
      certainty: 'proved',
      rulesOut: problemRulesOut(problem),
      ...broken,
      transactions,
      operations: named(all, [at, other]),
      ...(at < 0 || problem.rid === ''
        ? {}
        : {
            versions: [
              {
                operation: at,
                object: this.label(problem.rid),
                seen: problem.seen,
                allowed: problem.allowed ?? [],
              },
            ],
          }),
      explanation: [...describeTransactions(transactions, all), this.#explain(problem)],
    };
  }

  #explain(problem: RowProblem): Step {
    const { detail } = problem;
    const seen = ofData(showObservation(problem.seen));
    const reader = this.#who(problem.transaction);
    const other = problem.other === undefined ? undefined : this.#who(problem.other);
    const row = problem.rid === '' ? undefined : ofRow(this.label(problem.rid));
    const when = problem.operation === undefined ? [] : phrase` in ${this.#operation(problem.operation)}`;
    const wrong = say.contradiction;
    switch (problem.kind) {
      case 'lost-write':
        return wrong`${reader} lost a write${row === undefined ? [] : phrase` of ${row}`}${when}: ${detail}.`;
      case 'write-missed-row':
        return wrong`${reader} left out ${row ?? 'a row'}${when}: ${detail}.`;
      case 'write-extra-row':
        return wrong`${reader} wrote ${row ?? 'a row'} although its condition does not hold for it${when}: ${detail}.`;
      case 'incompatible-order':
        return wrong`${row!} has no single order of versions (${seen}), as ${reader} and ${other ?? 'the closing read'} show: ${detail}.`;
      case 'internal':
        return wrong`${reader} saw ${row!} as ${seen}${when}; however, ${detail} in ${this.#operation(problem.otherOperation!)}.`;
      default:
        return wrong`${reader} saw ${row!} as ${seen}${when}; however, ${detail}${other === undefined || problem.other === observerId ? [] : phrase` (${other})`}.`;
    }
  }

  #who(transaction: number): Piece {
    return transaction === observerId ? 'the closing read' : this.#named(transaction);
  }

  /** The set-up is no transaction of the finding's. */
  #named(id: number): Piece {
    return { transaction: id, name: this.#transaction(id).name };
  }

  #edge(from: number, to: number, kind: number, row: number): CycleEdge {
    const base = { from, to, kind: edgeNames[kind]! };
    const [a, b] = [this.#named(from), this.#named(to)];
    if (kind === sessionOrder) return { ...base, because: phrase`${a} came before ${b} in one session` };
    if (kind === realTime) return { ...base, because: phrase`${a} had ended before ${b} began` };
    const known = this.#byKey.get(dependencyKey(from, to, kind, row))!;
    const object = this.label(this.dependencies.chains[row]!.rid);
    const read = known.reads[0]?.operation;
    const [fromRaw, toRaw] =
      kind === wr
        ? [known.fromWrite, read]
        : kind === rw || kind === predicateRw
          ? [read, known.toWrite]
          : [known.fromWrite, known.toWrite];
    const place = (raw: number | undefined, name: 'fromOperation' | 'toOperation') => {
      const index = raw === undefined ? -1 : this.#index(raw);
      return index < 0 ? {} : { [name]: index };
    };
    return {
      ...base,
      object,
      ...place(fromRaw, 'fromOperation'),
      ...place(toRaw, 'toOperation'),
      because: this.#because(known, [a, b], ofRow(object), [fromRaw, toRaw]),
    };
  }

  #because(
    { kind, deletes = false }: { readonly kind: number; readonly deletes?: boolean },
    [a, b]: readonly [from: Piece, to: Piece],
    row: Piece,
    operations: readonly [from: number | undefined, to: number | undefined],
  ): Phrase {
    const [first, second] = operations.map(
      (raw): Phrase => (raw === undefined ? [] : phrase` with ${this.#operation(raw)}`),
    ) as [Phrase, Phrase];
    const wrote = deletes ? 'deleted' : 'wrote';
    switch (kind) {
      case wr:
        return deletes
          ? phrase`${b} no longer found ${row}${second}, which ${a} deleted${first}`
          : phrase`${b} read ${row}${second} as ${a} wrote it${first}`;
      case rw:
        return phrase`${a} read ${row}${first} in the version before ${b} ${wrote} it${second}`;
      case predicateRw:
        return phrase`${a} did not find ${row}${first}, which matches since ${b} wrote it${second} or before`;
      default:
        return phrase`${b} ${wrote} ${row}${second} right after ${a} wrote it${first}`;
    }
  }

  #transaction(id: number): FindingTransaction {
    const info = this.dependencies.events.transactions.get(id);
    if (info === undefined) return { id, name: 'the set-up', session: '', status: 'committed' };
    const session = this.stripped.history.header.sessions[info.session] ?? String(info.session);
    const name = transactionNames(this.stripped.history).get(id) ?? session;
    return { id, name, session, status: info.status };
  }

  #operationsOf(id: number): FindingOperation[] {
    return (this.#operations.get(id) ?? []).map((operation) => ({
      index: operation.index,
      transaction: id,
      text: `${operation.sql ?? operation.kind}${resultOf(operation)};`,
    }));
  }

  /** Number in the author's history. */
  #index(raw: number): number {
    return this.stripped.indexes[raw] ?? -1;
  }

  #operation(raw: number): Piece {
    const operation = this.stripped.history.operations[this.#index(raw)];
    return operation === undefined ? 'the closing read' : ofOperation(operation);
  }
}

/** The operations with these numbers, in this order; all where none has. */
function named(
  operations: readonly FindingOperation[],
  indexes: readonly (number | undefined)[],
): readonly FindingOperation[] {
  const found = [...new Set(indexes)].flatMap((index) => operations.filter((each) => each.index === index));
  return found.length === 0 ? operations : found;
}

function groupByTransaction({ operations }: History): Map<number, Operation[]> {
  const groups = new Map<number, Operation[]>();
  for (const operation of operations) {
    const group = groups.get(operation.transaction);
    if (group === undefined) groups.set(operation.transaction, [operation]);
    else group.push(operation);
  }
  return groups;
}

function resultOf({ rows, error }: Operation): string {
  if (error !== undefined) return ` → ${error.class}`;
  if (rows === undefined) return '';
  const shown = rows.slice(0, 3).map((row) => `(${row.map(showValue).join(', ')})`);
  const rest = rows.length > shown.length ? ` and ${rows.length - shown.length} more` : '';
  return ` → ${shown.length === 0 ? 'no rows' : shown.join(' ') + rest}`;
}

/** The weakest levels that a problem of a single read rules out. */
function problemRulesOut({ kind, transaction }: RowProblem): CheckLevel[] {
  switch (kind) {
    case 'G1a':
      // What was rolled back and is there at the end no level allows.
      return transaction === observerId ? ['read uncommitted'] : ['read committed'];
    case 'G1b':
      return ['read committed'];
    case 'incompatible-order':
      return ['cursor stability'];
    case 'write-missed-row':
    case 'write-extra-row':
      // Two reads of one transaction, of two states.
      return ['prefix'];
    default:
      return ['read uncommitted'];
  }
}
