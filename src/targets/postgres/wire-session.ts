/**
 * A session over PostgreSQL's protocol: turns replies into answers, whatever the engine behind it.
 *
 * What became of a transaction is read off the protocol, not off the statement's text:
 *
 * - the status after a statement (none, open, failed) comes with every reply;
 * - a transaction ended when its status went from open or failed to none, or when the tag is COMMIT or ROLLBACK
 *   while a new one is open already (AND CHAIN); the tag then says how: COMMIT of a failed one is tagged ROLLBACK;
 * - with the connection gone, what was not about to commit is rolled back by the server; anything else is unknown.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorClass } from '../../histories/index.js';
import { classifyStatement } from '../../sql/index.js';
import { type Guard, refusal } from '../refusal.js';
import type { Answer, Session } from '../target.js';
import { type ErrorContext, operationError, type ServerError } from './postgres-errors.js';
import type { Wire, WireReply } from './wire-connection.js';

/** What a session needs from the engine and the scratch it belongs to. */
export interface SessionHost {
  classify(error: ServerError, context: ErrorContext): ErrorClass;
  /** Whether a connection that closed without a word was lost with its server. */
  hasCrashed(): Promise<boolean>;
  /** Stops what this connection runs, from another connection; with `terminate` the connection too. */
  interrupt(connection: Wire, terminate: boolean): Promise<void>;
  /** Says what is not sent. */
  readonly refuses?: Guard;
  /** DISCARD ALL gives a connection the settings back that it was opened with; absent: nobody has tried. */
  readonly discards?: boolean;
  /** The session is no longer one of the scratch's. */
  forget(session: WireSession): void;
}

/** The server ends a statement at its time-out; this much later we no longer believe in the server. */
const graceMs = 5000;

export class WireSession implements Session {
  /** Counts statements, so that who asks about "the running one" can tell it from the next. */
  statementCount = 0;
  #cancelRequested = false;
  #interrupting: Promise<void> | undefined;
  #answer: Promise<Answer> | undefined;
  #closing: Promise<void> | undefined;
  readonly #limitMs: number;

  constructor(
    readonly connection: Wire,
    private readonly host: SessionHost,
    statementTimeoutMs: number,
  ) {
    this.#limitMs = statementTimeoutMs > 0 ? statementTimeoutMs + graceMs : 0;
  }

  get id(): number {
    return this.connection.id;
  }

  get isBusy(): boolean {
    return this.connection.isBusy;
  }

  execute(sql: string): Promise<Answer> {
    this.#answer = this.#execute(sql);
    return this.#answer;
  }

  async #execute(sql: string): Promise<Answer> {
    // A cancel on its way belongs to the statement before.
    if (this.#interrupting !== undefined) await this.#interrupting;
    this.#cancelRequested = false;
    this.statementCount++;
    const refused = this.host.refuses?.(sql);
    if (refused !== undefined) return { error: refusal(refused), transaction: this.connection.transaction };
    const before = this.connection.transaction;
    const reply = await this.connection.execute(sql, this.#limitMs);
    return reply.transaction === 'lost'
      ? this.#lostAnswer(reply, before, sql)
      : this.#answerOf(reply, before, sql);
  }

  async cancel(): Promise<void> {
    if (!this.isBusy) return;
    this.#cancelRequested = true;
    await this.#interrupt(false);
  }

  async renew(): Promise<boolean> {
    if (this.host.discards !== true) return false;
    const { error, transaction } = await this.connection.execute('DISCARD ALL', this.#limitMs);
    return error === undefined && transaction === 'none';
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** A statement that waits would go on waiting, with its locks, after its connection closed: it is stopped first. */
  async #close(): Promise<void> {
    for (const terminate of [false, true]) {
      if (!this.isBusy) break;
      await this.#interrupt(terminate);
      await Promise.race([this.#answer, delay(1000, undefined, { ref: false })]);
    }
    await this.connection.close();
    this.host.forget(this);
  }

  async #interrupt(terminate: boolean): Promise<void> {
    const interrupting = this.host.interrupt(this.connection, terminate).catch(() => {});
    this.#interrupting = interrupting;
    await interrupting;
    if (this.#interrupting === interrupting) this.#interrupting = undefined;
  }

  #answerOf(reply: WireReply, before: WireReply['transaction'], sql: string): Answer {
    const { error, transaction } = reply;
    const ended = before === 'none' ? undefined : howItEnded(reply, sql);
    const matched = matchedRows(reply.tag);
    return {
      ...(error === undefined ? {} : { error: operationError(error, this.#classOf(error)) }),
      ...(reply.columns === undefined ? {} : { columns: reply.columns, rows: reply.rows ?? [] }),
      ...(matched === undefined ? {} : { matched }),
      transaction,
      ...(ended === undefined ? {} : { ended }),
    };
  }

  async #lostAnswer(reply: WireReply, before: WireReply['transaction'], sql: string): Promise<Answer> {
    const error = reply.error ?? { message: 'the connection is lost' };
    const said = this.#classOf(error);
    const lost = said === 'crash' ? 'crash' : 'connection-lost';
    // Whoever ends a connection on purpose says so; silence is worth a question.
    const silent = error.severity === undefined && this.#closing === undefined && before !== 'lost';
    const crashed = lost === 'crash' || (silent && (await this.host.hasCrashed()));
    const ended = endedByLoss(before, sql);
    return {
      error: operationError(error, crashed ? 'crash' : lost),
      transaction: 'lost',
      ...(ended === undefined ? {} : { ended }),
    };
  }

  #classOf(error: ServerError): ErrorClass {
    return this.host.classify(error, { cancelRequested: this.#cancelRequested });
  }
}

function howItEnded({ error, tag, transaction }: WireReply, sql: string): Answer['ended'] {
  if (transaction === 'none') {
    // "Statement completion unknown": a distributed engine does not know itself.
    if (error?.code === '40003') return 'unknown';
    if (error !== undefined || tag === 'ROLLBACK') return 'rollback';
    return tag === 'COMMIT' ? 'commit' : 'unknown';
  }
  if (error !== undefined) return undefined;
  if (tag === 'COMMIT') return 'commit';
  // ROLLBACK TO SAVEPOINT has the same tag.
  return tag === 'ROLLBACK' && classifyStatement(sql, 'postgres').kind !== 'rollback-to'
    ? 'rollback'
    : undefined;
}

function endedByLoss(before: WireReply['transaction'], sql: string): Answer['ended'] {
  if (before === 'lost') return undefined;
  const harmless = before !== 'none' && !/\b(commit|end|prepare)\b/i.test(sql);
  return harmless ? 'rollback' : 'unknown';
}

/** `INSERT 0 5`, `UPDATE 5`, …; a SELECT's count says no more than its rows. */
function matchedRows(tag: string | undefined): number | undefined {
  const count = tag && /^(?:INSERT \d+|UPDATE|DELETE|MERGE) (\d+)$/.exec(tag)?.[1];
  return count === undefined || count === '' ? undefined : Number(count);
}
