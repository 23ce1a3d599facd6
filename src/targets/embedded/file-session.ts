/**
 * A session of an engine that keeps its database in a file. The engine's own flag says whether a transaction is
 * open, so what became of it follows from the flag before and after a statement:
 *
 *     open → open     the statement worked, or failed alone
 *     open → none     COMMIT or RELEASE worked: commit. Anything else, an error above all: rollback
 */

import { classifyStatement } from '../../sql/index.js';
import { refusal } from '../refusal.js';
import type { Answer, Session } from '../target.js';
import { sqliteGuard } from './engine-guard.js';
import type { FileConnection, FileEngine } from './file-engine.js';

/** Longest time statements may follow each other without a pause for timers, signals and other I/O. */
const breathEveryMs = 5;
let lastBreath = 0;

/** These engines answer without ever leaving the thread; a busy session would keep Ctrl-C and every timer out. */
async function breathe(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  lastBreath = performance.now();
}

const closedAnswer: Answer = {
  error: { class: 'connection-lost', message: 'The session is closed' },
  transaction: 'lost',
};

export interface FileSessionOptions {
  readonly id: number;
  readonly engine: FileEngine;
  readonly statementTimeoutMs: number;
  onClose(session: FileSession): void;
}

export class FileSession implements Session {
  readonly id: number;
  readonly #options: FileSessionOptions;
  #connection: FileConnection;
  #running: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(connection: FileConnection, options: FileSessionOptions) {
    this.id = options.id;
    this.#connection = connection;
    this.#options = options;
  }

  get statementTimeoutMs(): number {
    return this.#options.statementTimeoutMs;
  }

  execute(sql: string): Promise<Answer> {
    if (this.#closed) return Promise.resolve(closedAnswer);
    const answer = this.#execute(sql);
    this.#running = answer;
    return answer;
  }

  /** The statement holds the thread until it ends, so there is never a running one to stop. */
  async cancel(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#leave();
    this.#options.onClose(this);
  }

  /** Goes on in another file: transaction, settings and temporary tables are forgotten. */
  async reconnect(connection: FileConnection): Promise<void> {
    await this.#leave();
    this.#connection = connection;
  }

  async #leave(): Promise<void> {
    await this.#running;
    try {
      // Closing alone would do, but not every version lets go of its locks then.
      if (this.#connection.inTransaction()) await this.#connection.execute('ROLLBACK');
      await this.#connection.close();
    } catch {
      // The file is thrown away next; a connection that refuses to close cannot harm anything else.
    }
  }

  async #execute(sql: string): Promise<Answer> {
    if (performance.now() - lastBreath > breathEveryMs) await breathe();
    const wasOpen = this.#connection.inTransaction();
    const refused = sqliteGuard(sql);
    if (refused !== undefined) return { error: refusal(refused), transaction: wasOpen ? 'open' : 'none' };
    try {
      const reply = await this.#connection.execute(sql);
      const isOpen = this.#connection.inTransaction();
      if (isOpen || !wasOpen) return { ...reply, transaction: isOpen ? 'open' : 'none' };
      const { kind } = classifyStatement(sql, 'sqlite');
      const ended = kind === 'commit' || kind === 'release' ? 'commit' : 'rollback';
      return { ...reply, transaction: 'none', ended };
    } catch (thrown) {
      const error = this.#options.engine.describeError(thrown);
      if (error.class === 'crash')
        return { error, transaction: 'lost', ...(wasOpen && { ended: 'unknown' }) };
      if (this.#connection.inTransaction()) return { error, transaction: 'open' };
      return { error, transaction: 'none', ...(wasOpen && { ended: 'rollback' }) };
    }
  }
}
