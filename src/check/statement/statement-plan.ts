/**
 * From a case to the program that is sent: statements that depend on more than rows are left out (`steady.ts`), the others are
 * marked and stand between reads of the tables they use (`version-sets.ts`), one statement at a time, and a last
 * session reads the final state.
 */
import type { ScheduledCase, StatementRef } from '../../cases/index.js';
import { totalOrder } from '../../cases/index.js';
import type { Contract } from '../../contracts/index.js';
import {
  chainsOn,
  classifyStatement,
  type Dialect,
  nameKey,
  parseStatement,
  type Statement,
} from '../../sql/index.js';
import type { EngineWords } from '../instrument/engine-words.js';
import { instrumentCase } from '../instrument/instrument-case.js';
import type { Instrumented } from '../instrument/instrumented.js';
import { refKey } from '../instrument/marks.js';
import { readSetup, type Setup } from './setup-tables.js';
import { type DistinctColumns, steadinessOf } from './steady.js';
import { frameOf, type UsedTable, usedTables } from './version-sets.js';

export interface KnownStatement {
  readonly ref: StatementRef;
  readonly sql: string;
  readonly statement: Statement;
  readonly tables: readonly UsedTable[];
  readonly distinct: readonly DistinctColumns[];
}

export interface CasePlan {
  /** The case as it came, one statement at a time. */
  readonly source: ScheduledCase;
  readonly dialect: Dialect;
  readonly contract: Contract;
  readonly words: EngineWords;
  readonly setup: Setup;
  /** The statements that are judged, by `refKey`. */
  readonly known: ReadonlyMap<string, KnownStatement>;
  /** What is not sent, by `refKey`, and why. */
  readonly leftOut: ReadonlyMap<string, string>;
  readonly instrumented: Instrumented;
  /** What is sent. */
  readonly program: ScheduledCase;
  /** Why nothing of it can be judged. */
  readonly refused?: string;
}

const control = new Set(['begin', 'commit', 'rollback', 'savepoint', 'release', 'rollback-to']);
const rowKinds = new Set(['select', 'insert', 'update', 'delete', 'replace', 'merge']);
export const finalSession = 'isolde_final';

/** `words`: what the engine has of its own for what is added. */
export function planCase(
  program: ScheduledCase,
  dialect: Dialect,
  contract: Contract,
  words: EngineWords = {},
): CasePlan {
  const source = { case: { ...program.case, dialect }, schedule: oneAtATime(program) };
  const setup = readSetup(source.case.setup, dialect);
  const known = new Map<string, KnownStatement>();
  const leftOut = new Map<string, string>();
  let refused = setup.refused ?? levelProblem(source, contract);
  for (const [s, { statements }] of source.case.sessions.entries()) {
    let inTransaction = false;
    for (const [p, sql] of statements.entries()) {
      const { kind } = classifyStatement(sql, dialect);
      if (kind === 'begin') inTransaction = true;
      if (kind === 'commit' || kind === 'rollback') inTransaction = chainsOn(sql);
      if (control.has(kind)) continue;
      if (!rowKinds.has(kind)) refused ??= `it also says ${sql}`;
      const read = readStatement([s, p], sql, inTransaction, { setup, dialect, contract });
      if (typeof read === 'string') leftOut.set(refKey([s, p]), read);
      else known.set(refKey([s, p]), read);
    }
  }
  const plan = { source, dialect, contract, words, setup, known, ...(refused !== undefined && { refused }) };
  if (refused === undefined) return withoutStatements(plan, leftOut);
  const instrumented = instrumentCase(source, dialect, words);
  return { ...plan, leftOut, instrumented, program: source };
}

/** The same with more statements left out. */
export function withoutStatements(
  plan: Omit<CasePlan, 'instrumented' | 'program' | 'leftOut'>,
  leftOut: ReadonlyMap<string, string>,
): CasePlan {
  const { source, dialect, words, known } = plan;
  const out = new Map(leftOut);
  for (;;) {
    const instrumented = instrumentCase(source, dialect, {
      ...words,
      leaveOut: new Set(out.keys()),
      frame: (ref) => frameOf(known.get(refKey(ref))?.tables ?? []),
    });
    const refusals = instrumented.opaque.filter(({ ref }) => ref !== undefined);
    if (refusals.length === 0) {
      const refused = instrumented.unseenTables[0]?.reason;
      return {
        ...plan,
        leftOut: out,
        instrumented,
        program: withFinalReads(instrumented),
        ...(refused !== undefined && { refused }),
      };
    }
    for (const { ref, reason } of refusals) out.set(refKey(ref!), `it cannot be marked (${reason})`);
  }
}

/** The program with a session that reads every table at the end. */
function withFinalReads({ scheduled, observe }: Instrumented): ScheduledCase {
  const session = scheduled.case.sessions.length;
  const reads = observe.map((_, position): readonly StatementRef[] => [[session, position]]);
  return {
    case: {
      ...scheduled.case,
      sessions: [...scheduled.case.sessions, { name: finalSession, statements: observe }],
    },
    schedule: { batches: [...(scheduled.schedule?.batches ?? []), ...reads] },
  };
}

function readStatement(
  ref: StatementRef,
  sql: string,
  inTransaction: boolean,
  { setup, dialect, contract }: Pick<CasePlan, 'setup' | 'dialect' | 'contract'>,
): KnownStatement | string {
  const statement = parseStatement(sql, dialect);
  const steadiness = steadinessOf(statement, setup, dialect);
  if (!steadiness.steady) return steadiness.why;
  const tables = usedTables(statement, { inTransaction, contract, dialect });
  if (tables === undefined) return 'it sees one table as it was and as it is';
  const named = tables.map((used) => ({
    ...used,
    table: setup.tables.get(nameKey(used.table, dialect))!.name,
  }));
  return { ref, sql, statement, tables: named, distinct: steadiness.distinct };
}

/** The case's own order, one statement after another; without one the sessions take turns. */
function oneAtATime({ case: program, schedule }: ScheduledCase): NonNullable<ScheduledCase['schedule']> {
  if (schedule !== undefined) return totalOrder(schedule.batches.flat());
  const longest = Math.max(0, ...program.sessions.map(({ statements }) => statements.length));
  const order: StatementRef[] = [];
  for (let p = 0; p < longest; p++)
    for (const [s, { statements }] of program.sessions.entries())
      if (p < statements.length) order.push([s, p]);
  return totalOrder(order);
}

function levelProblem({ case: program }: ScheduledCase, contract: Contract): string | undefined {
  const other = program.sessions.find(({ level }) => level !== undefined && level !== contract.level);
  if (other !== undefined) return `session ${other.name} runs at another level`;
  const own = program.sessions
    .flatMap(({ statements }) => statements)
    .find((sql) => /\bISOLATION\s+LEVEL\b/i.test(sql));
  return own === undefined ? undefined : `a transaction chooses its level (${own})`;
}
