/**
 * One session of a run: what it still has to send, its transaction, and the statement that is in flight.
 *
 * A lane never sends a statement that would mean something else than its author meant:
 * - After the database rolled a transaction back (deadlock, conflict, failed BEGIN), the rest of that
 *   transaction's text is left out; outside a transaction it would autocommit. Its ROLLBACK is sent all the same: a client
 *   sends it, and it ends whatever may be open against all we were told.
 * - In a doomed transaction only transaction control is sent; everything else would be refused.
 * - After a lost connection nothing is sent. The statement in flight is never sent again.
 * Statements left out have no operation in the history.
 */
import { chainsOn } from '../sql/index.js';
import type { Answer, Session } from '../targets/index.js';
import type { Clock } from './clock.js';
import { type PreparedSession, type PreparedStatement, rollbackStatement } from './prepare.js';
import type { Recorder, TransactionState } from './recorder.js';

const control = new Set(['begin', 'commit', 'rollback', 'rollback-to']);
export interface LaneOptions {
  /** The session's place in the case. */
  readonly number: number;
  readonly prepared: PreparedSession;
  readonly session: Session;
  readonly recorder: Recorder;
  readonly clock: Clock;
}

/** Kinds that may leave something behind in the session: settings, temporary tables, prepared statements, locks. */
const lasting = new Set(['set', 'ddl', 'other']);

/** What a statement of another kind can leave there: a setting, a lock of the session, a temporary table, a variable. */
const lastingWords = /\bset_config\s*\(|advisory_lock|\bget_lock\s*\(|\binto\s+(?:temp|@)|:=/i;

export class Lane implements TransactionState {
  transaction = -1;
  failed = false;
  /** The connection is gone. */
  lost = false;
  /** It sent something that outlives its transaction, so another run must not get this session. */
  altered = false;
  /** When the statement in flight was sent, by the run's clock; undefined: none is. */
  sentAt: number | undefined;
  /** Seen waiting since it was sent. */
  blocked = false;
  #position = 0;
  /** The database ended the transaction; its remaining text is skipped. */
  #abandoned = false;
  #giveUp: ((answer: undefined) => void) | undefined;

  readonly number: number;
  readonly prepared: PreparedSession;
  readonly session: Session;
  private readonly recorder: Recorder;
  private readonly clock: Clock;

  constructor({ number, prepared, session, recorder, clock }: LaneOptions) {
    this.number = number;
    this.prepared = prepared;
    this.session = session;
    this.recorder = recorder;
    this.clock = clock;
  }

  /** Position of the next statement of the program not yet dealt with. */
  get position(): number {
    return this.#position;
  }

  /** The next statement to send, if any; statements to be left out are passed over. `limit`: end of what may be sent. */
  next(limit = this.prepared.statements.length): PreparedStatement | undefined {
    if (this.lost) return undefined;
    const { statements } = this.prepared;
    while (this.#position < limit) {
      const statement = statements[this.#position]!;
      if (!this.#isLeftOut(statement)) return statement;
      this.#position++;
    }
    return undefined;
  }

  #isLeftOut({ kind, sql }: PreparedStatement): boolean {
    if (this.#abandoned) {
      if (kind === 'commit' || kind === 'rollback') {
        // What follows is the text of the chained transaction, which nothing has begun.
        if (chainsOn(sql)) return true;
        this.#abandoned = false;
        return kind === 'commit';
      }
      if (kind !== 'begin') return true;
      this.#abandoned = false;
    }
    return this.failed && !control.has(kind);
  }

  /** Sends what `next` returned and records the answer. Rejects only if the history cannot be written, or the session throws, which none should. */
  async send(statement: PreparedStatement): Promise<void> {
    if (statement.ref !== undefined) this.#position++;
    if (lasting.has(statement.kind) || lastingWords.test(statement.sql)) this.altered = true;
    this.blocked = false;
    const start = this.clock();
    this.sentAt = start;
    // One promise for both ways to end, instead of a race of two: this is the hot path of a free run.
    const answer = await new Promise<Answer | undefined>((resolve, reject) => {
      this.#giveUp = resolve;
      void this.session.execute(statement.sql).then(resolve, reject);
    });
    const end = answer === undefined ? null : this.clock();
    this.sentAt = undefined;
    this.#giveUp = undefined;
    const { operation, written } = this.recorder.record({
      session: this.number,
      state: this,
      statement,
      start,
      end,
      answer: answer ?? {
        error: {
          class: 'connection-lost',
          message: 'no answer within the time limit; the session was given up',
        },
        transaction: 'lost',
      },
      blocked: this.blocked,
    });
    if (answer === undefined || answer.transaction === 'lost') this.lost = true;
    const { kind } = statement;
    if (operation.ends === 'rollback' && kind !== 'rollback' && kind !== 'commit') {
      // An autocommitted statement that failed left no text behind; a transaction did.
      this.#abandoned = kind === 'begin' || this.#insideTransactionText();
    }
    if (written !== undefined) await written;
    // A COMMIT that fails may leave the transaction open (SQLITE_BUSY): its text is over, so it has to end.
    const goesOn = operation.ends === undefined;
    if (goesOn && this.transaction >= 0 && kind === 'commit' && !chainsOn(statement.sql))
      await this.endOpenTransaction();
  }

  /** Whether the program stands between a BEGIN and the end of that transaction. */
  #insideTransactionText(): boolean {
    for (let i = this.#position - 1; i >= 0; i--) {
      const { kind, sql } = this.prepared.statements[i]!;
      if (kind === 'begin' || chainsOn(sql)) return true;
      if (kind === 'commit' || kind === 'rollback') return false;
    }
    return false;
  }

  /** Sends ROLLBACK if the program is over and left a transaction open. */
  async endOpenTransaction(): Promise<void> {
    if (this.transaction < 0 || this.lost) return;
    await this.send(rollbackStatement);
    // ROLLBACK did not end it, or each one begins another (MySQL's completion_type): the session is unusable.
    if (this.transaction >= 0) this.lost = true;
  }

  /** Stops waiting for the statement in flight; its fate is unknown and the session is lost. */
  giveUp(): void {
    this.#giveUp?.(undefined);
  }
}
