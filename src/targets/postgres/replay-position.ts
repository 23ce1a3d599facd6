/**
 * Where a PostgreSQL server stands in the order of commits, for those that wait until a standby has come as far.
 *
 * Commits are ordered by their place in the write-ahead log. A standby replays the log in that order, and sees a transaction when it
 * has replayed its commit record. Only what is flushed is sent to it, and commits may be answered before they are
 * (`synchronous_commit=off`): a record of our own, committed with a flush, brings everything before it along.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { IsoldeError } from '../../errors.js';
import type { Connectors } from './postgres-scratch.js';
import type { WireConnection } from './wire-connection.js';

const pauseMs = 1;

export class ReplayPosition {
  #opening: Promise<WireConnection> | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly connect: Connectors['control']) {}

  /** Behind every commit answered so far. */
  async position(): Promise<string> {
    await this.#ask("SELECT pg_logical_emit_message(true, 'isolde', '')");
    return this.#ask('SELECT pg_current_wal_flush_lsn()::text');
  }

  /** Resolves when the server, a standby, has replayed as far. */
  async awaitPosition(position: string, limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs;
    while ((await this.#ask(`SELECT (pg_last_wal_replay_lsn() >= '${position}')::text`)) !== 'true') {
      if (performance.now() > deadline)
        throw new IsoldeError('target', `The standby has not replayed ${position} within ${limitMs} ms`);
      await delay(pauseMs);
    }
  }

  async isStandby(): Promise<boolean> {
    return (await this.#ask('SELECT pg_is_in_recovery()::text')) === 'true';
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  /** One question at a time: several scratches ask. */
  #ask(sql: string): Promise<string> {
    const answer = this.#queue.then(() => this.#askNow(sql));
    this.#queue = answer.catch(() => undefined);
    return answer;
  }

  async #askNow(sql: string): Promise<string> {
    this.#opening ??= this.connect({ synchronous_commit: 'local' });
    const connection = await this.#opening.catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    const { error, rows } = await connection.execute(sql);
    if (connection.isLost) this.#opening = undefined;
    if (error !== undefined)
      throw new IsoldeError('target', `PostgreSQL does not say where it stands: ${error.message}`);
    return String(rows?.[0]?.[0]);
  }
}
