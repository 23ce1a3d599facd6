/**
 * A scratch: a database `isolde_…` of our own on the server.
 *
 * Two connections of its own, besides the sessions: the *builder* runs set-up statements one by one, exactly as
 * written; the *restorer* may send several statements at once, and sends only what the builder has run before.
 * Sessions report when a statement may have changed the schema; then the next reset builds from nothing.
 *
 * From nothing means an empty database. While all that is in it was made by set-ups of plain tables and views, dropping these is enough;
 * a new database costs as much again (MySQL writes its data dictionary, and the table that carries the mark, every time).
 */

import { IsoldeError } from '../../errors.js';
import { checkSetup } from '../refusal.js';
import { scratchMark } from '../scratch-mark.js';
import type { Scratch, Session, SessionOptions } from '../target.js';
import { mayChangeSchema } from './mysql-answer.js';
import { classifyMysqlError, isConnectionError, type MysqlError } from './mysql-errors.js';
import { userServerGuard } from './mysql-guard.js';
import { createDatabase, markTable, newNamespace } from './mysql-leftovers.js';
import { emptyStatements, refillStatements, restoreText, type ScratchTable } from './mysql-restore.js';
import type { MysqlServer } from './mysql-server.js';
import { MysqlSession } from './mysql-session.js';
import type { WireConnection } from './mysql-wire.js';

export class MysqlScratch implements Scratch {
  readonly namespace: string;
  /** Another node of the cluster made the database, and drops it. */
  readonly #joined: boolean;
  readonly #mark = scratchMark();
  readonly #server: MysqlServer;
  readonly #onDropped: (scratch: MysqlScratch) => void;
  readonly #sessions = new Set<MysqlSession>();
  #builder: WireConnection | undefined;
  #restorer: WireConnection | undefined;
  #keeper: WireConnection | undefined;
  #loaded: { readonly key: string; readonly restore: string | undefined } | undefined;
  /** All that is in the database, besides the mark; undefined: not known. */
  #contents: readonly ScratchTable[] | undefined;
  #dropped = false;

  constructor(server: MysqlServer, onDropped: (scratch: MysqlScratch) => void, joined?: string) {
    this.namespace = joined ?? newNamespace();
    this.#joined = joined !== undefined;
    this.#server = server;
    this.#onDropped = onDropped;
  }

  /** Creates the database; rejects when the server does not let us. */
  async create(): Promise<void> {
    // Held as long as the monitor lives: `isolde clean` sees that somebody works here.
    await this.#server.askMonitor(`SELECT GET_LOCK('${this.namespace}', 0)`);
    for (const sql of this.#createDatabase()) {
      const { error } = await this.#server.askMonitor(sql);
      if (error !== undefined) throw this.#server.scratchError(error);
    }
    const refused = await this.#server.permit(this.namespace, 'GRANT');
    if (refused !== undefined) throw this.#server.scratchError(refused);
    this.#contents = [];
  }

  async reset(setup: readonly string[]): Promise<void> {
    if (this.#dropped) throw new IsoldeError('usage', `The scratch ${this.namespace} was dropped.`);
    const key = JSON.stringify(setup);
    const loaded = this.#loaded;
    if (loaded?.key === key && loaded.restore !== undefined && (await this.#restore(loaded.restore))) return;
    this.#loaded = undefined;
    const refill = await this.#build(setup);
    if (refill === undefined) {
      this.#loaded = { key, restore: undefined };
      return;
    }
    this.#contents = await this.#tables(setup);
    this.#loaded = { key, restore: restoreText(this.#contents, refill) };
  }

  async openSession(options: SessionOptions): Promise<Session> {
    if (this.#dropped) throw new IsoldeError('usage', `The scratch ${this.namespace} was dropped.`);
    const { wire, id } = await this.#server.openSession(this.namespace, options);
    const session: MysqlSession = new MysqlSession(wire, id, {
      statementTimeoutMs: options.statementTimeoutMs,
      serverEndsSlowStatements: this.#server.flavor.endsSlowStatements,
      ...(!this.#server.isPrivate && { refuses: userServerGuard }),
      kill: (what, connection) => this.#server.kill(what, connection),
      serverIsDown: () => this.#server.isDown(),
      schemaMayHaveChanged: () => {
        this.#loaded = undefined;
        this.#contents = undefined;
      },
      closed: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  async waiting(): Promise<ReadonlySet<Session>> {
    const running = [...this.#sessions].filter((session) => session.running);
    if (running.length === 0) return new Set();
    const ids = await this.#server.waiting(running.map(({ id }) => id));
    // Who was answered meanwhile waits no more.
    return new Set(running.filter((session) => session.running && ids.has(session.id)));
  }

  /** InnoDB purges nothing that an open snapshot can still see. */
  async keepHistory(): Promise<() => Promise<void>> {
    if (this.#keeper === undefined || this.#keeper.lost)
      this.#keeper = await this.#server.openControl(undefined, {}).catch(() => undefined);
    const keeper = this.#keeper;
    await keeper?.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await keeper?.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    return async () => {
      await keeper?.query('ROLLBACK');
    };
  }

  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    await Promise.all([...this.#sessions].map((session) => session.close()));
    if (this.#joined) return this.#onDropped(this);
    this.#builder?.destroy();
    this.#restorer?.destroy();
    this.#keeper?.destroy();
    const dropping = `DROP DATABASE IF EXISTS ${this.namespace}`;
    let { error } = await this.#server.askMonitor(dropping);
    if (error !== undefined && (await this.#unlocked(error)))
      ({ error } = await this.#server.askMonitor(dropping));
    await this.#server.permit(this.namespace, 'REVOKE');
    await this.#server.askMonitor(`DO RELEASE_LOCK('${this.namespace}')`);
    this.#onDropped(this);
    // A server that is gone cannot drop anything.
    if (error !== undefined && !isConnectionError(error)) {
      throw new IsoldeError(
        'target',
        `The scratch database ${this.namespace} stays behind: ${error.message}`,
      );
    }
  }

  /** True when the data is back. A lock held by an open transaction is the caller's error, anything else ours. */
  async #restore(text: string): Promise<boolean> {
    if (this.#restorer === undefined || this.#restorer.lost) {
      this.#restorer = await this.#server.openControl(this.namespace, { multipleStatements: true });
    }
    const { error } = await this.#restorer.query(text);
    if (error === undefined) return true;
    await this.#restorer.query('ROLLBACK; SET foreign_key_checks = 1');
    if (classifyMysqlError(error) === 'lock-timeout' && !(await this.#unlocked(error)))
      throw this.#lockError(error);
    return false;
  }

  /** Whether what held the lock was a transaction that its session had prepared and left, which is gone now. */
  async #unlocked(error: MysqlError): Promise<boolean> {
    return classifyMysqlError(error) === 'lock-timeout' && (await this.#server.rollBackPrepared());
  }

  /** Builds from nothing; returns what refills the tables, if refilling is enough next time. */
  async #build(setup: readonly string[]): Promise<readonly string[] | undefined> {
    if (this.#builder === undefined || this.#builder.lost) {
      this.#builder = await this.#server.openControl(undefined, {});
    }
    const builder = this.#builder;
    await this.#empty(builder);
    const refill = refillStatements(setup);
    let failed: { readonly sql: string; readonly message: string } | undefined;
    for (const sql of setup) {
      if (!this.#server.isPrivate) checkSetup([sql], userServerGuard);
      const { error } = await builder.query(sql);
      if (error !== undefined) {
        failed = { sql, message: error.message };
        break;
      }
    }
    // Variables, temporary tables, another database or an open transaction end with their connection.
    const leavesTraces = setup.some((sql) => refillStatements([sql]) === undefined && !isPlainDdl(sql));
    if (leavesTraces || failed !== undefined) {
      await builder.query(failed === undefined ? 'COMMIT' : 'ROLLBACK');
      await builder.quit();
    }
    if (failed !== undefined) {
      throw new IsoldeError('target', `Set-up statement failed: ${failed.sql}\n${failed.message}`);
    }
    return refill;
  }

  /** Leaves an empty database, and the builder in it. */
  async #empty(builder: WireConnection): Promise<void> {
    const contents = this.#contents;
    this.#contents = undefined;
    const use = `USE ${this.namespace}`;
    if (
      contents !== undefined &&
      (await this.#send(builder, [use, ...emptyStatements(contents)])) === undefined
    ) {
      return;
    }
    const error = await this.#send(builder, [
      'SET foreign_key_checks = 1',
      `DROP DATABASE IF EXISTS ${this.namespace}`,
      ...this.#createDatabase(),
      use,
    ]);
    if (error === undefined) return;
    throw new IsoldeError('target', `The scratch ${this.namespace} cannot be emptied: ${error.message}`);
  }

  /** The first error; a lock held by an open transaction is the caller's. */
  async #send(builder: WireConnection, statements: readonly string[]): Promise<MysqlError | undefined> {
    for (const sql of statements) {
      let { error } = await builder.query(sql);
      if (error !== undefined && (await this.#unlocked(error))) ({ error } = await builder.query(sql));
      if (error === undefined) continue;
      if (classifyMysqlError(error) === 'lock-timeout') throw this.#lockError(error);
      return error;
    }
    return undefined;
  }

  /** The tables and views; asking for columns costs milliseconds, so only when a set-up numbers rows at all. */
  async #tables(setup: readonly string[]): Promise<readonly ScratchTable[]> {
    const tables = await this.#ask(`SHOW FULL TABLES FROM ${this.namespace}`);
    const numbered = setup.some((sql) => /\bAUTO_INCREMENT\b|\bSERIAL\b|\bAUTO_RANDOM\b/i.test(sql))
      ? await this.#ask(
          'SELECT TABLE_NAME FROM information_schema.COLUMNS ' +
            `WHERE TABLE_SCHEMA = '${this.namespace}' AND EXTRA LIKE '%auto_increment%'`,
        )
      : [];
    return tables
      .filter(([name]) => name !== markTable)
      .map(([name, type]) => ({
        name: name!,
        isView: type !== 'BASE TABLE',
        autoIncrement: numbered.some(([each]) => each === name),
      }));
  }

  async #ask(sql: string): Promise<readonly (readonly string[])[]> {
    const { rows, error } = await this.#server.askMonitor(sql);
    if (error !== undefined) {
      throw new IsoldeError('target', `The tables of ${this.namespace} cannot be listed: ${error.message}`);
    }
    return (rows ?? []).map((row) => row.map((cell) => cell?.toString() ?? ''));
  }

  #createDatabase(): readonly string[] {
    return createDatabase(this.namespace, this.#mark, this.#server.hasDatabaseComments);
  }

  #lockError(error: MysqlError): IsoldeError {
    const open = [...this.#sessions].filter((session) => session.open || session.running).map(({ id }) => id);
    const who = open.length === 0 ? 'Another connection' : `Session ${open.join(', ')} of this scratch`;
    return new IsoldeError(
      'target',
      `The scratch ${this.namespace} cannot be reset: ${who} still holds locks in it. ` +
        `Commit or roll back first. (${error.message})`,
    );
  }
}

function isPlainDdl(sql: string): boolean {
  return mayChangeSchema(sql) && /^\s*(CREATE(?!\s+TEMPORARY)|ALTER|DROP|RENAME|TRUNCATE)\b/i.test(sql);
}
