/**
 * A DuckDB scratch: the schema `isolde_…`, in a database in memory of its own or in the user's file.
 *
 * Reset always builds the schema anew (`DROP SCHEMA … CASCADE`, then the set-up, in one call): for the small
 * tables of a case that costs about as much as putting the rows back, and it also puts back what rows do not
 * show, such as deleted versions and row groups, on which DuckDB's behaviour depends. When a session ran
 * anything but queries and writes, the database in memory itself is replaced, for DDL can leave things outside
 * the schema.
 */

import { randomBytes } from 'node:crypto';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { errorText, IsoldeError } from '../../errors.js';
import { duckdbGuard } from '../embedded/index.js';
import { checkSetup } from '../refusal.js';
import { scratchMark } from '../scratch-mark.js';
import type { Scratch, Session, SessionOptions } from '../target.js';
import { closeHandle } from './close-handle.js';
import { DuckdbSession } from './duckdb-session.js';
import { duckdbRows } from './duckdb-values.js';

export interface DuckdbScratchOptions {
  /** Gives the instance to work in: the shared one of a file, or a new one in memory. */
  openInstance(): Promise<DuckDBInstance>;
  /** The instance belongs to this scratch alone. */
  readonly private: boolean;
  onDrop(scratch: DuckdbScratch): void;
}

/** Tells, when called, that its schema is a scratch. */
export const markMacro = 'isolde_mark';

export class DuckdbScratch implements Scratch {
  readonly namespace: string;
  readonly #options: DuckdbScratchOptions;
  readonly #mark = scratchMark();
  readonly #sessions = new Set<DuckdbSession>();
  #instance: DuckDBInstance;
  #admin: DuckDBConnection;
  #nextId = 1;
  /** Something outside the schema may have been changed by a session or a set-up that failed half-way. */
  #altered = false;
  #dropped = false;
  /** The last reset, until it ends; it never rejects. */
  #resetting: Promise<void> = Promise.resolve();

  static async create(options: DuckdbScratchOptions): Promise<DuckdbScratch> {
    const instance = await options.openInstance();
    const scratch = new DuckdbScratch(options, instance, await instance.connect());
    await scratch.#admin.run(scratch.#emptySchema());
    // Says so now, and not with every statement, if this driver's results cannot be read.
    duckdbRows(await scratch.#admin.run('SELECT 1'));
    return scratch;
  }

  private constructor(options: DuckdbScratchOptions, instance: DuckDBInstance, admin: DuckDBConnection) {
    this.namespace = `isolde_${randomBytes(6).toString('hex')}`;
    this.#options = options;
    this.#instance = instance;
    this.#admin = admin;
  }

  async reset(setup: readonly string[]): Promise<void> {
    checkSetup(setup, duckdbGuard);
    const resetting = this.#reset(setup);
    this.#resetting = resetting.catch(() => undefined);
    await resetting;
  }

  async #reset(setup: readonly string[]): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.rollBack()));
    const lost = [...this.#sessions].some((session) => session.lost);
    try {
      if (this.#options.private && (lost || this.#isAltered())) await this.#replaceInstance();
      await this.#build(setup);
      await this.#renewSessions((session) => session.altered);
    } catch (cause) {
      this.#altered = true;
      if (cause instanceof IsoldeError) throw cause;
      throw new IsoldeError('target', `DuckDB cannot reset ${this.namespace}: ${errorText(cause)}`, {
        cause,
      });
    }
    this.#altered = false;
  }

  async openSession(options: SessionOptions): Promise<Session> {
    if (options.level !== 'snapshot') {
      throw new IsoldeError('usage', `DuckDB has no level "${options.level}"; accepted is: snapshot`);
    }
    const session = new DuckdbSession(await this.#connect(), {
      id: this.#nextId++,
      statementTimeoutMs: options.statementTimeoutMs,
      onClose: (closed) => {
        this.#sessions.delete(closed);
        // What it left behind outside the schema stays until the next reset.
        this.#altered ||= closed.altered || closed.lost;
      },
    });
    this.#sessions.add(session);
    return session;
  }

  /** DuckDB reports a conflict at once; nobody ever waits. */
  async waiting(): Promise<ReadonlySet<Session>> {
    return new Set();
  }

  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    await Promise.all([...this.#sessions].map((session) => session.close()));
    // To close a connection under a running statement ends the process.
    await this.#resetting;
    try {
      if (!this.#options.private) await this.#admin.run(`DROP SCHEMA IF EXISTS ${this.namespace} CASCADE`);
    } catch (cause) {
      throw new IsoldeError('target', `DuckDB cannot drop ${this.namespace}: ${errorText(cause)}`, { cause });
    } finally {
      closeHandle(this.#admin);
      if (this.#options.private) closeHandle(this.#instance);
      this.#options.onDrop(this);
    }
  }

  #isAltered(): boolean {
    return this.#altered || [...this.#sessions].some((session) => session.altered);
  }

  #emptySchema(): string {
    const name = this.namespace;
    // A schema cannot have a comment here. In memory there is nothing that could be left behind.
    const mark = this.#options.private ? '' : `CREATE MACRO ${name}.${markMacro}() AS '${this.#mark}';`;
    return `DROP SCHEMA IF EXISTS ${name} CASCADE; CREATE SCHEMA ${name}; ${mark} SET schema = '${name}'`;
  }

  async #build(setup: readonly string[]): Promise<void> {
    try {
      await this.#admin.run([this.#emptySchema(), ...setup].join(';\n'));
    } catch {
      await this.#buildStepwise(setup);
    }
  }

  /** Slower, but knows which statement fails. */
  async #buildStepwise(setup: readonly string[]): Promise<void> {
    if (this.#options.private) {
      await this.#replaceInstance();
    } else {
      // The failed attempt may have left the set-up's own transaction open.
      await this.#admin.run('ROLLBACK').catch(() => undefined);
      await this.#admin.run(this.#emptySchema());
    }
    for (const [index, statement] of setup.entries()) {
      try {
        await this.#admin.run(statement);
      } catch (cause) {
        const what = `Set-up statement ${index + 1} of ${setup.length} fails on DuckDB: ${statement}`;
        throw new IsoldeError('target', `${what}\n${errorText(cause)}`, { cause });
      }
    }
  }

  async #replaceInstance(): Promise<void> {
    const old = this.#instance;
    this.#instance = await this.#options.openInstance();
    closeHandle(this.#admin);
    this.#admin = await this.#instance.connect();
    await this.#admin.run(this.#emptySchema());
    await this.#renewSessions((session) => !session.lost);
    closeHandle(old);
  }

  async #renewSessions(which: (session: DuckdbSession) => boolean): Promise<void> {
    for (const session of this.#sessions) if (which(session)) session.reconnect(await this.#connect());
  }

  async #connect(): Promise<DuckDBConnection> {
    const connection = await this.#instance.connect();
    await connection.run(`SET schema = '${this.namespace}'`);
    return connection;
  }
}
