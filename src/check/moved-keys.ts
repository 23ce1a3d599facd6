/**
 * Findings that keys moved by others may explain, where rows are records with a key (`movedKeysAreNewRows`, InnoDB).
 *
 * T has a snapshot. U changes the primary key of a row, which deletes one record and inserts another, and commits. A write of T, which sees what is
 * committed now, finds the new record and makes it T's own. Plain reads of T then show both: the new record because T wrote it, the
 * old one because T's snapshot has it. InnoDB's manual says as much: a transaction sees its own changes, and "older versions of any rows" besides.
 * Who knows the row by another column takes that for a row that is there twice, or for an own write that is not seen.
 *
 * What such reads show is not decided: a finding in which one takes part is withdrawn, with the reason.
 */
import type { Contract } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import { catalogOf, recordKeys, type Table, type Tx, transactionsOfHistory } from '../rows/index.js';
import { nameKey, type Statement, shapeParserOf, statementFeatures } from '../sql/index.js';
import type { Finding } from './finding.js';

export interface Withdrawn {
  readonly findings: readonly Finding[];
  /** Why others are no findings. */
  readonly reasons: readonly string[];
}

/** The findings of a history that stand. */
export function withoutMovedKeys(
  findings: readonly Finding[],
  history: History,
  { mechanism, ...contract }: Contract,
): Withdrawn {
  if (findings.length === 0 || mechanism?.movedKeysAreNewRows !== true) return { findings, reasons: [] };
  const keys = new MovedKeys(history, { mechanism, ...contract });
  const standing = findings.filter(
    ({ oracle, operations }) =>
      oracle === 'server' || !operations.some(({ index }) => keys.mayShowBoth(history.operations[index]!)),
  );
  if (standing.length === findings.length) return { findings, reasons: [] };
  return {
    findings: standing,
    reasons: [
      'another transaction moved a primary key since the snapshot, and the reader had then written the table: the old record may be read beside the new one',
    ],
  };
}

interface Move {
  readonly table: Table;
  readonly operation: Operation;
}

class MovedKeys {
  readonly #find: (name: string) => Table | undefined;
  readonly #transactions: ReadonlyMap<number, Tx>;
  readonly #moves: readonly Move[];

  constructor(
    private readonly history: History,
    contract: Contract,
  ) {
    const { header, operations } = history;
    this.#find = catalogOf(history).find;
    this.#transactions = transactionsOfHistory(header, operations, contract);
    this.#moves = operations
      .filter(({ outcome }) => outcome !== 'error')
      .flatMap((each) => this.#movesOf(each));
  }

  /** Whether a plain read may show a record that its transaction has replaced by a moved one. */
  mayShowBoth(operation: Operation): boolean {
    if (operation.kind !== 'select') return false;
    const { reads } = statementFeatures(this.#parse(operation));
    const tables = new Set(reads.map(({ name }) => this.#find(name)));
    return this.#moves.some(
      (move) =>
        tables.has(move.table) &&
        this.#movedBefore(move, operation) &&
        this.#hasWritten(move.table, operation, move),
    );
  }

  /** Since the snapshot of the reader, by somebody else who did not take it back. */
  #movedBefore({ operation: move }: Move, { transaction, end, start }: Operation): boolean {
    const [reader, mover] = [this.#transactions.get(transaction)!, this.#transactions.get(move.transaction)!];
    if (mover === reader || mover.fate === 'aborted') return false;
    return mover.end.end >= reader.start && move.start <= (end ?? start);
  }

  /** Whether the reader's transaction has written the table since the move was sent. */
  #hasWritten(table: Table, { transaction, index }: Operation, { operation: move }: Move): boolean {
    return this.history.operations.some(
      (each) =>
        each.transaction === transaction &&
        each.index < index &&
        each.outcome !== 'error' &&
        (each.end ?? Number.POSITIVE_INFINITY) >= move.start &&
        each.kind !== 'select' &&
        statementFeatures(this.#parse(each)).writes.some(({ name }) => this.#find(name) === table),
    );
  }

  #movesOf(operation: Operation): Move[] {
    const statement = this.#parse(operation);
    const set =
      statement.type === 'update'
        ? statement.set
        : statement.type === 'insert'
          ? (statement.conflict?.set ?? [])
          : [];
    if (set.length === 0) return [];
    const { dialect = 'mysql' } = this.history.header;
    const assigned = new Set(set.flatMap(({ columns }) => columns.map((column) => nameKey(column, dialect))));
    return statementFeatures(statement).writes.flatMap(({ name }) => {
      const table = this.#find(name);
      if (table === undefined) return [];
      const moves = recordKeys({ ...table, identity: [] }, dialect).some((key) =>
        key.some((column) => assigned.has(nameKey(table.shape.columns[column]!.name, dialect))),
      );
      return moves ? [{ table, operation }] : [];
    });
  }

  #parse({ sql = '' }: Operation): Statement {
    return shapeParserOf(this.history.header.dialect ?? 'mysql').parse(sql).statement;
  }
}
