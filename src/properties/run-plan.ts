/**
 * Runs a plan, one interaction after the other, and judges it as it goes.
 *
 * 1. A statement is sent once, by its session. When it works, the shadow state follows it.
 * 2. A statement that fails makes the rest of its group void, unless its property asked for the failure: "not supported" is
 *    no bug, and a conflict is an engine's right. What the group left open is rolled back.
 * 3. An assertion that does not hold is a failure, if it has to hold: when the shadow state, asked the same question, says
 *    that the assertion is false in this state, the property is at fault (`mistaken`), not the database.
 * 4. In the end every table must hold what the shadow state says.
 *
 * The run stops at its first failure. Nothing here depends on time or chance: the same plan on the same database gives the
 * same answers.
 */
import type { Level } from '../contracts/index.js';
import { goneErrors, type OperationError } from '../histories/index.js';
import {
  arithmeticOf,
  classifyStatement,
  isUndecidable,
  parseStatement,
  printName,
  type Row,
  type Undecidable,
  undecidable,
} from '../sql/index.js';
import type { Answer, Scratch, Session, Target } from '../targets/index.js';
import { endsTransactions, type FaultKind } from './fault-kinds.js';
import { performFault } from './faults.js';
import type { Interaction, Plan, ResultId, StatementInteraction } from './interaction.js';
import { expectedOf, type Judged, judgeCheck, keyOfRow } from './judge-check.js';
import { ShadowState } from './shadow-state.js';
import { answerOf, type Tables } from './tables.js';

export interface PlanFailure {
  readonly kind: 'assertion' | 'crash' | 'lost-data' | 'difference';
  /** The property that failed; absent: no property's statement. */
  readonly property?: string;
  /** The interaction at which it showed; absent: the comparison in the end. */
  readonly at?: number;
  /** For an assertion: the shadow state could be asked, and says that it has to hold. */
  readonly predicted?: boolean;
  /** What makes it the same failure in a smaller plan. */
  readonly identity: string;
  readonly message: string;
}

export interface PlanOutcome {
  readonly failure?: PlanFailure;
  /** Statements in the order in which they were sent, with their answers. */
  readonly sent: readonly Sent[];
  readonly counts: PlanCounts;
  /** Properties whose assertion was false by the shadow state too. */
  readonly mistaken: readonly string[];
  /** The database could not be used any further: the scratch is not to be used again. */
  readonly broken: boolean;
}

export interface Sent {
  readonly interaction: number;
  readonly session: number;
  readonly sql: string;
  readonly answer: Answer;
}

export interface PlanCounts {
  readonly statements: number;
  readonly asserted: number;
  readonly undecided: number;
  readonly voided: number;
  readonly faults: number;
}

export interface PlanPlace {
  readonly target: Target;
  readonly scratch: Scratch;
  readonly level: Level;
  readonly shadow: { readonly pivot: ShadowState['options']['pivot']; readonly ddlCommits: boolean };
  readonly signal?: AbortSignal | undefined;
  readonly statementTimeoutMs?: number;
}

/** Runs a plan on a scratch that is empty. Rejects only when the database cannot be reached outside the plan's statements. */
export async function runPlan(plan: Plan, place: PlanPlace): Promise<PlanOutcome> {
  const run = new PlanRun(plan, place);
  try {
    return await run.all();
  } finally {
    await run.close();
  }
}

/** Where writes begin to fail: the files of small databases have some pages, and a log begins with the first. */
const pageBytes = 4096;
const unwritablePages = 8;
/** How engines say that a write to a file failed. */
export const writeErrors = /I\/O error|file too large|(disk|device) (is )?full|no space left/i;

interface ResultKept {
  readonly answer: Answer;
  /** The tables its session saw when it was sent. */
  readonly view: Tables;
  readonly sql: string;
}

class PlanRun {
  readonly #shadow: ShadowState;
  readonly #sessions = new Map<number, Session>();
  readonly #results = new Map<ResultId, ResultKept>();
  readonly #void = new Set<number>();
  readonly #sent: Sent[] = [];
  readonly #mistaken = new Set<string>();
  readonly #counts = { statements: 0, asserted: 0, undecided: 0, voided: 0, faults: 0 };
  #cancelNext: number | undefined;
  /** The session whose next statement cannot write, and from which size of a file on. */
  #unwritable: { readonly session: number; readonly beyond: number } | undefined;
  #failure: PlanFailure | undefined;
  #broken = false;
  readonly #judged: Judged = {
    seen: (id) => this.#results.get(id)?.answer,
    predicted: (id) => this.#predicted(id),
  };

  constructor(
    readonly plan: Plan,
    readonly place: PlanPlace,
  ) {
    this.#shadow = new ShadowState({
      ...place.shadow,
      dialect: place.target.dialect,
      target: place.target.name,
    });
  }

  async all(): Promise<PlanOutcome> {
    for (const [at, each] of this.plan.interactions.entries()) {
      if (this.#failure !== undefined || this.place.signal?.aborted === true) break;
      if (!this.#void.has(each.group)) await this.#one(at, each);
    }
    if (this.#failure === undefined && this.place.signal?.aborted !== true) await this.#compareAll();
    return {
      ...(this.#failure !== undefined && { failure: this.#failure }),
      sent: this.#sent,
      counts: this.#counts,
      mistaken: [...this.#mistaken],
      broken: this.#broken,
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    this.#sessions.clear();
  }

  async #one(at: number, each: Interaction): Promise<void> {
    switch (each.type) {
      case 'statement':
        return this.#statement(at, each);
      case 'fault':
        return this.#fault(at, each.fault, each.session, each.group);
      case 'assert':
      case 'assume': {
        const held = judgeCheck(each.check, this.#judged);
        if (each.type === 'assert') this.#counts.asserted++;
        if (isUndecidable(held)) this.#counts.undecided++;
        else if (!held && each.type === 'assume') await this.#voidGroup(each.group);
        else if (!held) this.#failedAssertion(at, each);
        return;
      }
      default:
        return each satisfies never;
    }
  }

  #failedAssertion(at: number, each: Extract<Interaction, { type: 'assert' | 'assume' }>): void {
    const name = this.plan.properties.get(each.group) ?? 'an assertion';
    const expected = expectedOf(each.check, this.#judged);
    // After a group that was void the tables are not those the plan was made for.
    const asPlanned = this.#counts.voided === 0;
    if (expected === false && asPlanned) {
      this.#mistaken.add(name);
      return;
    }
    // Then it is nobody's fault, unless the shadow state says otherwise or the assertion holds in any state.
    if (expected === false || (expected !== true && !asPlanned && each.anyState !== true)) {
      this.#counts.undecided++;
      return;
    }
    this.#failure = {
      kind: 'assertion',
      property: name,
      at,
      predicted: expected === true,
      identity: `${name}: ${each.check.type}`,
      message: `${name}: it does not hold that ${each.says}`,
    };
  }

  async #statement(at: number, each: StatementInteraction): Promise<void> {
    const session = await this.#session(each.session);
    const view = this.#shadow.view(each.session);
    const cancelling = this.#cancelNext === each.session;
    const unwritable = this.#unwritable?.session === each.session ? this.#unwritable : undefined;
    if (unwritable !== undefined) await this.place.target.limitWrites?.(unwritable.beyond);
    const executing = session.execute(this.#spelt(each.sql));
    if (cancelling) {
      this.#cancelNext = undefined;
      await session.cancel();
    }
    const answer = await executing;
    if (unwritable !== undefined) await this.#writable(answer);
    this.#counts.statements++;
    this.#sent.push({ interaction: at, session: each.session, sql: each.sql, answer });
    this.#results.set(each.id, { answer, view, sql: each.sql });
    const { error } = answer;
    // Writes were meant to fail: an engine that says so is not gone, though its session may be.
    const asked = unwritable !== undefined && error !== undefined && writeErrors.test(error.message);
    if (error !== undefined && goneErrors.has(error.class) && !asked) {
      this.#broken = true;
      this.#failure = this.#crash(at, each, error);
      return;
    }
    if (asked && answer.transaction === 'lost') {
      await this.#closeSession(each.session);
      this.#shadow.rollBack(each.session);
    }
    if (error === undefined)
      this.#shadow.apply(each.session, parseStatement(each.sql, this.place.target.dialect));
    else this.#refused(each.session, error, answer);
    if (error === undefined || each.mayFail === true) return;
    await this.#voidGroup(each.group);
  }

  /** The disk is as it was. From a process that is gone nothing can be taken away. */
  async #writable({ transaction }: Answer): Promise<void> {
    this.#unwritable = undefined;
    const lifted = this.place.target.limitWrites?.(undefined);
    await (transaction === 'lost' ? lifted?.catch(() => undefined) : lifted);
  }

  /** What a refusal means for the shadow state. */
  #refused(session: number, error: OperationError, { transaction }: Answer): void {
    if (transaction === 'none') this.#shadow.rollBack(session);
    // Its fate is not known: it may have worked. (A statement that was cancelled has had no effect.)
    if (error.class === 'statement-timeout') this.#shadow.forgetAll('a statement ran into its time limit');
  }

  #crash(at: number, { group, sql }: StatementInteraction, error: OperationError): PlanFailure {
    const property = this.plan.properties.get(group);
    return {
      kind: 'crash',
      ...(property === undefined ? {} : { property }),
      at,
      identity: `${error.class}: ${firstWords(error.message)}`,
      message: `the database ended under "${sql}": ${error.message.split('\n')[0]}`,
    };
  }

  /** The rest of the group is left out, and what it left open is rolled back. */
  async #voidGroup(group: number): Promise<void> {
    this.#void.add(group);
    this.#counts.voided++;
    for (const [number, session] of this.#sessions) {
      if (!this.#shadow.inTransaction(number)) continue;
      const answer = await session.execute('ROLLBACK');
      this.#shadow.rollBack(number);
      if (answer.error !== undefined && answer.transaction !== 'none') await this.#closeSession(number);
    }
  }

  async #fault(at: number, fault: FaultKind, session: number, group: number): Promise<void> {
    this.#counts.faults++;
    if (fault === 'cancel') {
      this.#cancelNext = session;
      return;
    }
    if (fault === 'write-error') {
      // In the middle of a page, of another one each time.
      this.#unwritable = { session, beyond: pageBytes * (at % unwritablePages) + pageBytes / 2 };
      return;
    }
    const ends = endsTransactions(fault);
    const ended = ends === 'all' ? [...this.#sessions.keys()] : ends === 'one' ? [session] : [];
    const end = async () => {
      for (const number of ended) {
        await this.#closeSession(number);
        this.#shadow.rollBack(number);
      }
    };
    // A killed server meets its sessions in the middle of their transactions; every other fault begins with their end.
    if (fault !== 'kill') await end();
    const done = await performFault(fault, this.place, () => this.#session(session));
    if (fault === 'kill') await end();
    if (done.kind === 'not-possible') await this.#voidGroup(group);
    if (done.kind !== 'failed') return;
    this.#broken = true;
    this.#failure = {
      kind: 'crash',
      property: this.plan.properties.get(group) ?? fault,
      at,
      identity: `${fault} failed: ${firstWords(done.why)}`,
      message: `after ${fault} the database cannot be used: ${done.why}`,
    };
  }

  async #closeSession(number: number): Promise<void> {
    await this.#sessions.get(number)?.close();
    this.#sessions.delete(number);
  }

  async #session(number: number): Promise<Session> {
    const known = this.#sessions.get(number);
    if (known !== undefined) return known;
    const { scratch, level, statementTimeoutMs = 10_000 } = this.place;
    const opened = await scratch.openSession({ level, statementTimeoutMs, lockTimeoutMs: 2_000 });
    this.#sessions.set(number, opened);
    return opened;
  }

  /** A plain BEGIN as the level needs it. */
  #spelt(sql: string): string {
    const { target, level } = this.place;
    if (!classifyStatement(sql, target.dialect).plainBegin) return sql;
    return target.levels.find((each) => each.level === level)?.begin ?? sql;
  }

  #predicted(id: ResultId): readonly Row[] | Undecidable {
    const kept = this.#results.get(id);
    if (kept === undefined) return undecidable(`statement #${id} was not sent`);
    return predictedRows(kept.sql, kept.view, this.place.target);
  }

  /** The shadow state is the database: every table whose rows are known is read whole by a session of its own. */
  async #compareAll(): Promise<void> {
    const { dialect } = this.place.target;
    for (const number of [...this.#sessions.keys()])
      if (this.#shadow.inTransaction(number)) {
        await this.#closeSession(number);
        this.#shadow.rollBack(number);
      }
    const observer = await this.#session(-1);
    for (const { shape } of this.#shadow.committed.values()) {
      const sql = `SELECT * FROM ${printName(shape.name, dialect)}`;
      const expected = predictedRows(sql, this.#shadow.committed, this.place.target);
      if (isUndecidable(expected)) continue;
      const answer = await observer.execute(sql);
      this.#counts.asserted++;
      const difference = differenceOf(answer, expected);
      if (difference === undefined) continue;
      this.#sent.push({ interaction: -1, session: -1, sql, answer });
      const crashed = answer.error !== undefined && goneErrors.has(answer.error.class);
      this.#broken ||= crashed;
      this.#failure = {
        kind: crashed ? 'crash' : 'lost-data',
        property: 'shadow state is the database',
        identity: crashed
          ? `${answer.error!.class}: ${firstWords(answer.error!.message)}`
          : 'shadow state is the database',
        message: `in the end ${shape.name} does not hold what the statements wrote: ${difference}`,
      };
      return;
    }
  }
}

/** What a query answers on known tables. A row with a cell that is not known makes the whole answer unknown. */
export function predictedRows(
  sql: string,
  tables: Tables,
  { dialect, name }: Pick<Target, 'dialect' | 'name'>,
): readonly Row[] | Undecidable {
  const statement = parseStatement(sql, dialect);
  if (statement.type !== 'select') return undecidable('not a query that can be read');
  const answer = answerOf(tables, statement, arithmeticOf(dialect, name));
  if (isUndecidable(answer)) return answer;
  const open = answer.rows.flat().find(isUndecidable);
  return open ?? (answer.rows as readonly Row[]);
}

/** The first difference between an answer and the rows it should have; undefined: none. */
function differenceOf({ rows = [], error }: Answer, expected: readonly Row[]): string | undefined {
  if (error !== undefined) return `reading it fails: ${error.message.split('\n')[0]}`;
  const left = new Map<string, number>();
  for (const row of expected) left.set(keyOfRow(row), (left.get(keyOfRow(row)) ?? 0) + 1);
  for (const row of rows) {
    const count = left.get(keyOfRow(row)) ?? 0;
    if (count === 0) return `the row ${JSON.stringify(row)} should not be there`;
    left.set(keyOfRow(row), count - 1);
  }
  const missing = expected.find((row) => (left.get(keyOfRow(row)) ?? 0) > 0);
  return missing && `the row ${JSON.stringify(missing)} is missing`;
}

/** The words of a message without its numbers and names, so that the same failure is recognised. */
export function firstWords(message: string): string {
  return message
    .split('\n')[0]!
    .replaceAll(/\d+|"[^"]*"|'[^']*'|`[^`]*`|\bt\w*\b/g, '…')
    .slice(0, 120);
}
