/**
 * A session that goes through a fault. It follows its own transaction (what was sent, what was written) and
 * hands each statement to the fault's mechanism, which sends it as it is or does something else and answers.
 *
 * A mechanism may use auxiliary connections: real sessions of the wrapped target that belong to this one,
 * opened when first needed and closed with it. The case cannot tell them from the engine's own doings.
 */
import { findContract, type Level, type Pivot } from '../../contracts/index.js';
import type { Answer, Scratch, Session, SessionOptions, TargetLevel } from '../target.js';
import { Channel } from './channel.js';
import { type Shape, shapeOf } from './statement-shape.js';
import type { Trigger } from './trigger.js';
import type { AuxiliaryName, Mechanism, ScratchInFault, SessionInFault, TransactionLog } from './turn.js';

/** What a session needs of its scratch. */
export interface FaultyHost extends ScratchInFault {
  readonly inner: Scratch;
  readonly mechanism: Mechanism;
  readonly afterStatement: ((session: SessionInFault, answer: Answer) => Promise<void>) | undefined;
  readonly trigger: Trigger;
  readonly sessions: Set<FaultySession>;
  /** Whose a session of the wrapped target is, auxiliary ones included. */
  readonly owners: Map<Session, FaultySession>;
  endAuxiliaryTransactions(): Promise<void>;
}

export class FaultySession implements SessionInFault {
  readonly id: number;
  /** Where statements go; a fault may switch it for a transaction. */
  main: Channel;
  log: TransactionLog | undefined;
  readonly own: Channel;
  readonly #auxiliaries = new Map<AuxiliaryName, Channel>();
  #closed = false;

  constructor(
    readonly scratch: FaultyHost,
    inner: Session,
    readonly options: SessionOptions,
  ) {
    this.id = inner.id;
    this.own = new Channel(inner);
    this.main = this.own;
    scratch.owners.set(inner, this);
  }

  async execute(sql: string): Promise<Answer> {
    if (this.#closed) return this.own.send(sql);
    const statement = shapeOf(sql, this.scratch.target.dialect);
    // An auxiliary transaction must never be what DDL waits for.
    if (statement.kind === 'ddl') await this.scratch.endAuxiliaryTransactions();
    const log = this.log;
    if (log !== undefined && /^(commit|rollback)$/.test(statement.kind)) log.ending = true;
    const answer = await this.scratch.mechanism({
      sql,
      statement,
      session: this,
      scratch: this.scratch,
      log,
      send: (other = sql) => this.main.send(other),
      fires: (about = [statement]) => this.scratch.trigger.fires(about),
    });
    this.#follow(statement, answer);
    await this.scratch.afterStatement?.(this, answer);
    return answer;
  }

  #follow(statement: Shape, answer: Answer): void {
    if (answer.transaction === 'none' || answer.transaction === 'lost') {
      this.log = undefined;
      this.main = this.own;
    } else if (this.log === undefined) {
      const explicit = statement.kind === 'begin';
      this.log = {
        begin: explicit ? statement.sql : this.beginAt(this.options.level),
        statements: explicit ? [] : [statement],
        savepoints: false,
        deleted: [],
      };
    } else if (/^(savepoint|release|rollback-to)$/.test(statement.kind)) {
      this.log.savepoints = true;
    } else if (answer.error === undefined) {
      this.log.statements.push(statement);
    }
  }

  /** The level this session claims, as the target describes it. */
  get level(): TargetLevel | undefined {
    return this.scratch.target.levels.find(({ level }) => level === this.options.level);
  }

  /** How a transaction is begun at a level. */
  beginAt(level: Level): string {
    return this.scratch.target.levels.find((entry) => entry.level === level)?.begin ?? 'BEGIN';
  }

  /** When this session's reads take their snapshot, by the vendor's contract. */
  get pivot(): Pivot {
    return findContract(this.level?.contract ?? '')?.mechanism?.pivot ?? 'statement';
  }

  /** Reads of one transaction share a snapshot. */
  get holdsSnapshot(): boolean {
    return this.pivot !== 'statement' && this.pivot !== 'uncommitted';
  }

  async auxiliary(name: AuxiliaryName, level: Level): Promise<Channel> {
    const known = this.#auxiliaries.get(name);
    if (known !== undefined && known.state !== 'lost') return known;
    const inner = await this.scratch.inner.openSession({ ...this.options, level });
    const channel = new Channel(inner);
    this.scratch.owners.set(inner, this);
    this.#auxiliaries.set(name, channel);
    return channel;
  }

  /** A connection without transaction: every statement sees what is committed now. */
  fresh(): Promise<Channel> {
    return this.auxiliary('fresh', this.options.level);
  }

  /** The auxiliary connection of this name, if it has been opened. */
  opened(name: AuxiliaryName): Channel | undefined {
    return this.#auxiliaries.get(name);
  }

  async endAuxiliaryTransactions(): Promise<void> {
    for (const [name, channel] of this.#auxiliaries) {
      // A weakened transaction runs there: it is the case's own.
      if (name !== 'weak' || channel !== this.main) await channel.rollback();
    }
  }

  async cancel(): Promise<void> {
    const busy = [this.own, ...this.#auxiliaries.values()].filter((channel) => channel.busy);
    await Promise.all((busy.length === 0 ? [this.own] : busy).map((channel) => channel.session.cancel()));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const channels = [this.own, ...this.#auxiliaries.values()];
    await Promise.all(channels.map((channel) => channel.session.close()));
    for (const channel of channels) this.scratch.owners.delete(channel.session);
    this.scratch.sessions.delete(this);
  }
}
