/**
 * A scratch of an engine that keeps its database in a file: a folder `isolde_…` of our own, never a file of the
 * user's. Every reset makes a new file with a new name and moves the open sessions to it. That is as cheap as
 * putting the rows back, leaves nothing of the case before (free pages, sequences, settings, temporary tables),
 * and is safe with old Turso versions, which go on using a deleted file when its name comes back.
 */

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Level } from '../../contracts/index.js';
import { errorText, IsoldeError } from '../../errors.js';
import { checkSetup } from '../refusal.js';
import { scratchMark } from '../scratch-mark.js';
import type { Scratch, Session, SessionOptions } from '../target.js';
import { sqliteGuard } from './engine-guard.js';
import type { FileConnection, FileEngine } from './file-engine.js';
import { FileSession } from './file-session.js';

export interface FileScratchOptions {
  readonly engine: FileEngine;
  /** Where the scratch's own folder is made. */
  readonly parentFolder: string;
  readonly level: Level;
  /** The process it is marked with; default: this one. */
  readonly owner?: number | undefined;
  onDrop(scratch: FileScratch): void;
}

/** The folder scratches go to: the URL's path, which must be a folder, or where temporary files belong. */
export function scratchParent(url: string, path: string, scratchFolder: string | undefined): string {
  if (path === '') return scratchFolder ?? tmpdir();
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new IsoldeError(
      'safety',
      `"${path}" in "${url}" is not a folder. Isolde never opens a database file of yours here: ` +
        'name a folder, and it makes files of its own in it',
    );
  }
  return resolve(path);
}

/** The file in a scratch's folder that says what it is. */
export const markFile = 'isolde-scratch';

export class FileScratch implements Scratch {
  readonly namespace: string;
  readonly #options: FileScratchOptions;
  readonly #folder: string;
  readonly #sessions = new Set<FileSession>();
  #fileCount = 0;
  #file = '';
  /** Stays open as long as its file is in use: old Turso versions forget a file's mode with its last connection. */
  #admin: FileConnection | undefined;
  #nextId = 1;
  #dropped = false;

  static async create(options: FileScratchOptions): Promise<FileScratch> {
    const scratch = new FileScratch(options, `isolde_${randomBytes(6).toString('hex')}`);
    scratch.#makeFolder();
    await scratch.#newFile();
    return scratch;
  }

  /** The scratch of a process that was killed, with the file it used last. */
  static async adopt(options: FileScratchOptions, namespace: string): Promise<FileScratch> {
    const scratch = new FileScratch(options, namespace);
    const numbers = readdirSync(scratch.#folder).flatMap((name) => /^(\d+)\.db$/.exec(name)?.[1] ?? []);
    scratch.#fileCount = Math.max(...numbers.map(Number));
    scratch.#file = join(scratch.#folder, `${scratch.#fileCount}.db`);
    await scratch.#openFile();
    return scratch;
  }

  private constructor(options: FileScratchOptions, namespace: string) {
    this.#options = options;
    this.namespace = namespace;
    this.#folder = join(options.parentFolder, namespace);
  }

  #makeFolder(): void {
    const { owner = process.pid } = this.#options;
    try {
      mkdirSync(this.#folder, { mode: 0o700 });
      writeFileSync(join(this.#folder, markFile), `${scratchMark(owner)}\n`, { mode: 0o600 });
    } catch (cause) {
      throw new IsoldeError('file-system', `Cannot make a folder for the scratch: ${errorText(cause)}`, {
        cause,
      });
    }
  }

  async reset(setup: readonly string[]): Promise<void> {
    const old = { file: this.#file, admin: this.#admin };
    const admin = await this.#newFile();
    try {
      await this.#build(admin, setup);
    } finally {
      for (const session of this.#sessions) {
        await session.reconnect(await this.#connect(session.statementTimeoutMs));
      }
      await old.admin?.close();
      removeDatabase(old.file);
    }
  }

  async openSession(options: SessionOptions): Promise<Session> {
    const { engine, level } = this.#options;
    if (options.level !== level) {
      throw new IsoldeError(
        'usage',
        `${engine.label} has no level "${options.level}"; accepted is: ${level}`,
      );
    }
    const { statementTimeoutMs } = options;
    const session = new FileSession(await this.#connect(statementTimeoutMs), {
      id: this.#nextId++,
      engine,
      statementTimeoutMs,
      onClose: (closed) => this.#sessions.delete(closed),
    });
    this.#sessions.add(session);
    return session;
  }

  /** A lock that is not free is an error at once; nobody ever waits. */
  async waiting(): Promise<ReadonlySet<Session>> {
    return new Set();
  }

  async reopen(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await this.#admin?.close();
    await this.#openFile();
  }

  /** Of the file alone, after everything in the log was moved into it: a log begins with random numbers. */
  async digest(): Promise<string> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await this.#admin?.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    return createHash('sha256').update(readFileSync(this.#file)).digest('hex');
  }

  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await this.#admin?.close();
    rmSync(this.#folder, { recursive: true, force: true });
    this.#options.onDrop(this);
  }

  async #newFile(): Promise<FileConnection> {
    this.#file = join(this.#folder, `${++this.#fileCount}.db`);
    return this.#openFile();
  }

  /** Opens the file with the settings under test; a file that is there keeps its content. */
  async #openFile(): Promise<FileConnection> {
    const { engine } = this.#options;
    try {
      this.#admin = await engine.create(this.#file);
    } catch (cause) {
      if (cause instanceof IsoldeError) throw cause;
      throw new IsoldeError('target', `${engine.label} cannot open "${this.#file}": ${errorText(cause)}`, {
        cause,
      });
    }
    return this.#admin;
  }

  async #connect(statementTimeoutMs: number): Promise<FileConnection> {
    const { engine } = this.#options;
    try {
      return await engine.connect(this.#file, statementTimeoutMs);
    } catch (cause) {
      throw new IsoldeError('target', `${engine.label} cannot open "${this.#file}": ${errorText(cause)}`, {
        cause,
      });
    }
  }

  async #build(admin: FileConnection, setup: readonly string[]): Promise<void> {
    for (const [index, statement] of setup.entries()) {
      checkSetup([statement], sqliteGuard);
      try {
        await admin.execute(statement);
      } catch (cause) {
        const { label } = this.#options.engine;
        const what = `Set-up statement ${index + 1} of ${setup.length} fails on ${label}: ${statement}`;
        throw new IsoldeError('target', `${what}\n${errorText(cause)}`, { cause });
      }
    }
  }
}

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '-log']) rmSync(file + suffix, { force: true });
}
