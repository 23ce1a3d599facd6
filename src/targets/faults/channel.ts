/** A real session of the wrapped target: one statement at a time whoever asks, with its transaction state remembered. */
import type { Answer, Session } from '../target.js';

export class Channel {
  #queue: Promise<unknown> = Promise.resolve();
  #pending = 0;
  #state: Answer['transaction'] = 'none';

  constructor(readonly session: Session) {}

  /** A statement is running on it. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  /** Its transaction, as its last answer said. */
  get state(): Answer['transaction'] {
    return this.#state;
  }

  send(sql: string): Promise<Answer> {
    return this.#enqueue(() => this.session.execute(sql)) as Promise<Answer>;
  }

  /**
   * Sends a statement in between, right after the one that is running: whoever uses the session for its own work may keep it
   * busy without a pause. Nothing is sent, and nothing answered, if no transaction is open by then, or if it was called off.
   */
  sendInside(sql: string, calledOff: () => boolean): Promise<Answer | undefined> {
    return this.#enqueue(() =>
      this.#state === 'open' && !calledOff() ? this.session.execute(sql) : Promise.resolve(undefined),
    );
  }

  #enqueue(run: () => Promise<Answer | undefined>): Promise<Answer | undefined> {
    this.#pending++;
    const answer = this.#queue.then(run);
    this.#queue = answer;
    return answer.then((value) => {
      this.#pending--;
      if (value !== undefined) this.#state = value.transaction;
      return value;
    });
  }

  /** Ends whatever transaction is open. */
  async rollback(): Promise<void> {
    if (this.#state === 'open' || this.#state === 'failed') await this.send('ROLLBACK');
  }
}
