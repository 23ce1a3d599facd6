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
    this.#pending++;
    const answer = this.#queue.then(() => this.session.execute(sql));
    this.#queue = answer;
    return answer.then((value) => {
      this.#pending--;
      this.#state = value.transaction;
      return value;
    });
  }

  /** Ends whatever transaction is open. */
  async rollback(): Promise<void> {
    if (this.#state === 'open' || this.#state === 'failed') await this.send('ROLLBACK');
  }
}
