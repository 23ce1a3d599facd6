/**
 * A scratch: a database `isolde_…` of our own on the server.
 *
 * Two connections of its own, besides the sessions: the *builder* runs set-up statements one by one, exactly as
 * written; the *restorer* may send several statements at once, and sends only what the builder has run before.
 * Sessions report when a statement may have changed the schema; then the next reset builds from nothing.
 */
import { randomBytes } from 'node:crypto';
import { IsoldeError } from '../../errors.js';
import { scratchMark } from '../scratch-mark.js';
import type { Scratch, Session, SessionOptions } from '../target.js';
import { mayChangeSchema, reachesBeyondScratch } from './mysql-answer.js';
import { classifyMysqlError, isConnectionError, type MysqlError } from './mysql-errors.js';
import { createDatabase, markTable } from './mysql-leftovers.js';
import { refillStatements, restoreText, type ScratchTable } from './mysql-restore.js';
import type { MysqlServer } from './mysql-server.js';
import { MysqlSession } from './mysql-session.js';
import type { WireConnection } from './mysql-wire.js';

export class MysqlScratch implements Scratch {
  readonly namespace = `isolde_${randomBytes(8).toString('hex')}`;
  readonly #mark = scratchMark();
  readonly #server: MysqlServer;
  readonly #onDropped: (scratch: MysqlScratch) => void;
  readonly #sessions = new Set<MysqlSession>();
  #builder: WireConnection | undefined;
  #restorer: WireConnection | undefined;
  #loaded: { readonly key: string; readonly restore: string | undefined } | undefined;
  #dropped = false;

  constructor(server: MysqlServer, onDropped: (scratch: MysqlScratch) => void) {
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
  }

  async reset(setup: readonly string[]): Promise<void> {
    if (this.#dropped) throw new IsoldeError('usage', `The scratch ${this.namespace} was dropped.`);
    const key = JSON.stringify(setup);
    const loaded = this.#loaded;
    if (loaded?.key === key && loaded.restore !== undefined && (await this.#restore(loaded.restore))) return;
    this.#loaded = undefined;
    const refill = await this.#build(setup);
    const restore = refill && restoreText(await this.#tables(setup), refill);
    this.#loaded = { key, restore };
  }

  async openSession(options: SessionOptions): Promise<Session> {
    if (this.#dropped) throw new IsoldeError('usage', `The scratch ${this.namespace} was dropped.`);
    const { wire, id } = await this.#server.openSession(this.namespace, options);
    const session: MysqlSession = new MysqlSession(wire, id, {
      statementTimeoutMs: options.statementTimeoutMs,
      serverEndsSlowStatements: this.#server.flavor.endsSlowStatements,
      guarded: !this.#server.isPrivate,
      kill: (what, connection) => this.#server.kill(what, connection),
      serverIsDown: () => this.#server.isDown(),
      schemaMayHaveChanged: () => {
        this.#loaded = undefined;
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

  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    await Promise.all([...this.#sessions].map((session) => session.close()));
    this.#builder?.destroy();
    this.#restorer?.destroy();
    const { error } = await this.#server.askMonitor(`DROP DATABASE IF EXISTS ${this.namespace}`);
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
    if (classifyMysqlError(error) === 'lock-timeout') throw this.#lockError(error);
    return false;
  }

  /** Builds from nothing; returns what refills the tables, if refilling is enough next time. */
  async #build(setup: readonly string[]): Promise<readonly string[] | undefined> {
    if (this.#builder === undefined || this.#builder.lost) {
      this.#builder = await this.#server.openControl(undefined, {});
    }
    const builder = this.#builder;
    const recreate = [
      `DROP DATABASE IF EXISTS ${this.namespace}`,
      ...this.#createDatabase(),
      `USE ${this.namespace}`,
    ];
    for (const sql of recreate) {
      const { error } = await builder.query(sql);
      if (error === undefined) continue;
      if (classifyMysqlError(error) === 'lock-timeout') throw this.#lockError(error);
      throw new IsoldeError('target', `The scratch ${this.namespace} cannot be emptied: ${error.message}`);
    }
    const refill = refillStatements(setup);
    let failed: { readonly sql: string; readonly message: string } | undefined;
    for (const sql of setup) {
      if (!this.#server.isPrivate && reachesBeyondScratch(sql)) {
        throw new IsoldeError(
          'safety',
          `Set-up statement not sent, because it reaches beyond the scratch database: ${sql}`,
        );
      }
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

  /** The base tables; asking for columns costs milliseconds, so only when a set-up numbers rows at all. */
  async #tables(setup: readonly string[]): Promise<readonly ScratchTable[]> {
    const tables = await this.#names(
      `SHOW FULL TABLES FROM ${this.namespace} WHERE Table_type = 'BASE TABLE'`,
    );
    const numbered = setup.some((sql) => /\bAUTO_INCREMENT\b|\bSERIAL\b|\bAUTO_RANDOM\b/i.test(sql))
      ? await this.#names(
          'SELECT TABLE_NAME FROM information_schema.COLUMNS ' +
            `WHERE TABLE_SCHEMA = '${this.namespace}' AND EXTRA LIKE '%auto_increment%'`,
        )
      : [];
    return tables
      .filter((name) => name !== markTable)
      .map((name) => ({ name, autoIncrement: numbered.includes(name) }));
  }

  async #names(sql: string): Promise<readonly string[]> {
    const { rows, error } = await this.#server.askMonitor(sql);
    if (error !== undefined) {
      throw new IsoldeError('target', `The tables of ${this.namespace} cannot be listed: ${error.message}`);
    }
    return (rows ?? []).map((row) => row[0]!.toString());
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
