/**
 * The operations of a case as reduction sees them: what may be removed, and what then goes with it.
 *
 * Only statements that do something are operations here, numbered in the order of the schedule. BEGIN, COMMIT and
 * ROLLBACK belong to their transaction: they stay as long as one of its operations stays, so every subset of the operations
 * is a well-formed case. (Taking a transaction's BEGIN and COMMIT away from around its operations is a simplification of
 * its own, `passes/drop-operations.ts`.)
 */
import { type Schedule, type StatementRef, type TransactionSpan, transactionsOf } from '../cases/index.js';
import { classifyStatement, type StatementKind } from '../sql/index.js';
import type { Candidate } from './candidate.js';

/** Numbers of operations, ascending. */
export type Subset = readonly number[];

export interface ModelOperation {
  readonly ref: StatementRef;
  readonly sql: string;
  readonly kind: StatementKind;
  /** Number of its transaction in the model. */
  readonly transaction: number;
}

export interface CaseModel {
  readonly candidate: Candidate;
  /** In schedule order. */
  readonly operations: readonly ModelOperation[];
  readonly transactions: readonly ModelTransaction[];
  /** The operation a statement is; −1 for BEGIN, COMMIT and ROLLBACK. */
  operationOf(ref: StatementRef): number;
  /** The transaction a statement belongs to. */
  transactionOf(ref: StatementRef): number;
}

export interface ModelTransaction extends TransactionSpan {
  readonly operations: Subset;
}

export function modelOf(candidate: Candidate): CaseModel {
  const { case: program, schedule } = candidate;
  const spans: TransactionSpan[] = [];
  const owner: Int32Array[] = [];
  const control: Uint8Array[] = [];
  program.sessions.forEach(({ statements }, s) => {
    const owners = new Int32Array(statements.length).fill(-1);
    const controls = new Uint8Array(statements.length);
    for (const span of transactionsOf(program, s)) {
      owners.fill(spans.length, span.first, span.last + 1);
      if (span.explicit) controls[span.first] = 1;
      if (span.end === 'commit' || span.end === 'rollback') controls[span.last] = 1;
      spans.push(span);
    }
    owner.push(owners);
    control.push(controls);
  });
  const operations: ModelOperation[] = [];
  const numbers = program.sessions.map(({ statements }) => new Int32Array(statements.length).fill(-1));
  const members: number[][] = spans.map(() => []);
  for (const ref of schedule.batches.flat()) {
    const [s, p] = ref;
    if (control[s]![p] === 1) continue;
    const sql = program.sessions[s]!.statements[p]!;
    const transaction = owner[s]![p]!;
    numbers[s]![p] = operations.length;
    members[transaction]!.push(operations.length);
    operations.push({ ref, sql, kind: classifyStatement(sql, program.dialect).kind, transaction });
  }
  return {
    candidate,
    operations,
    transactions: spans.map((span, t) => ({ ...span, operations: members[t]! })),
    operationOf: ([s, p]) => numbers[s]?.[p] ?? -1,
    transactionOf: ([s, p]) => owner[s]?.[p] ?? -1,
  };
}

/** Every operation of a model. */
export function allOperations(model: CaseModel): Subset {
  return model.operations.map((_, id) => id);
}

/** The case with only these operations, and the transaction control around them. */
export function restrictTo(model: CaseModel, keep: Subset): Candidate {
  const kept = keptStatements(model, keep);
  return keepStatements(model.candidate, (s, p) => kept[s]![p] === 1);
}

/** The statements of such a case, session by session, by their places in the whole one. */
export function statementsOf(model: CaseModel, keep: Subset): readonly (readonly StatementRef[])[] {
  return keptStatements(model, keep)
    .map((kept, s) => Array.from(kept).flatMap((is, p): StatementRef[] => (is === 1 ? [[s, p]] : [])))
    .filter((refs) => refs.length > 0);
}

function keptStatements(model: CaseModel, keep: Subset): readonly Uint8Array[] {
  const { case: program } = model.candidate;
  const kept = program.sessions.map(({ statements }) => new Uint8Array(statements.length));
  const alive = new Set<number>();
  for (const id of keep) {
    const { ref, transaction } = model.operations[id]!;
    kept[ref[0]]![ref[1]] = 1;
    alive.add(transaction);
  }
  for (const t of alive) {
    const { session, first, last, explicit, end } = model.transactions[t]!;
    if (explicit) kept[session]![first] = 1;
    if (end === 'commit' || end === 'rollback') kept[session]![last] = 1;
  }
  return kept;
}

/** The case with only the statements asked for; sessions left empty go, and the schedule follows. */
export function keepStatements(
  { case: program, schedule }: Candidate,
  keep: (session: number, position: number) => boolean,
): Candidate {
  let sessionCount = 0;
  const newSession = new Int32Array(program.sessions.length);
  const newPosition = program.sessions.map(({ statements }, s) => {
    const positions = new Int32Array(statements.length).fill(-1);
    let count = 0;
    for (let p = 0; p < statements.length; p++) if (keep(s, p)) positions[p] = count++;
    newSession[s] = count > 0 ? sessionCount++ : -1;
    return positions;
  });
  const moved = ([s, p]: StatementRef): StatementRef | undefined => {
    const position = newPosition[s]![p]!;
    return position < 0 ? undefined : [newSession[s]!, position];
  };
  const sessions = program.sessions.flatMap((session, s) =>
    newSession[s]! < 0
      ? []
      : [{ ...session, statements: session.statements.filter((_, p) => newPosition[s]![p]! >= 0) }],
  );
  return { case: { ...program, sessions }, schedule: mapSchedule(schedule, moved) };
}

/** A schedule with its statements renamed; those without a new name go, and so do batches left empty. */
export function mapSchedule(
  { batches, reasons, cancelled, keepsHistory }: Schedule,
  moved: (ref: StatementRef) => StatementRef | undefined,
): Schedule {
  const newBatches: StatementRef[][] = [];
  for (const batch of batches) {
    const kept: StatementRef[] = [];
    for (const ref of batch) {
      const to = moved(ref);
      if (to !== undefined) kept.push(to);
    }
    if (kept.length > 0) newBatches.push(kept);
  }
  const newCancelled = (cancelled ?? []).map(moved).filter((ref) => ref !== undefined);
  const newReasons = (reasons ?? []).flatMap(({ before, after, why }) => {
    const [a, b] = [moved(before), moved(after)];
    return a === undefined || b === undefined ? [] : [{ before: a, after: b, why }];
  });
  return {
    batches: newBatches,
    ...(newReasons.length > 0 && { reasons: newReasons }),
    ...(newCancelled.length > 0 && { cancelled: newCancelled }),
    ...(keepsHistory && { keepsHistory }),
  };
}
