/**
 * `exec:COMMAND`: a target whose engine lives in another process, behind the protocol of
 * `docs/formats/exec-protocol.md`. We choose the names of scratches and the numbers of sessions, and
 * reset by drop, create and replay when the adapter has no better way.
 */
import { randomBytes } from 'node:crypto';
import { errorText, IsoldeError } from '../../errors.js';
import { hideSecrets } from '../../secrets.js';
import type { Answer, OpenOptions, Scratch, Session, SessionOptions, Target } from '../target.js';
import { AdapterFailure, AdapterProcess, type AdapterProgram, AdapterRefusal } from './adapter-process.js';
import { canLimitFileSize, limitFileSize } from './file-size-limit.js';
import { type Hello, protocolVersion, readAnswer, readHello, readWaiting } from './protocol.js';

const nothing = () => undefined;

/** Starts the command of an `exec:` URL and asks who it is. */
export async function openExecTarget(url: string, options: OpenOptions): Promise<Target> {
  const command = url.slice(url.indexOf(':') + 1).trim();
  if (command === '') {
    throw new IsoldeError('usage', 'exec: needs a command, as in "exec:python3 adapter.py"');
  }
  return openAdapter(command, url, {}, options);
}

/** Starts an adapter and asks who it is; `settings` are added to those it tells of. */
export async function openAdapter(
  command: string | AdapterProgram,
  url: string,
  settings: Readonly<Record<string, string>>,
  options: OpenOptions,
): Promise<ExecTarget> {
  const start = () => startAdapter(command, options);
  const { adapter, hello } = await start();
  const declared = { ...hello.settings, ...settings };
  const target = new ExecTarget(
    adapter,
    Object.keys(declared).length === 0 ? hello : { ...hello, settings: declared },
    url,
  );
  if (!hello.durable) return target;
  const kill = async () => target.replace(async () => (await start()).adapter);
  // Behind a shell it would be the shell that is limited.
  if (typeof command === 'string' || !canLimitFileSize()) return Object.assign(target, { kill });
  const limitWrites = (bytes: number | undefined) => limitFileSize(target.adapter.pid!, bytes);
  return Object.assign(target, { kill, limitWrites });
}

async function startAdapter(
  command: string | AdapterProgram,
  options: OpenOptions,
): Promise<{ readonly adapter: AdapterProcess; readonly hello: Hello }> {
  const adapter = new AdapterProcess(command);
  try {
    const limitMs = options.connectTimeoutMs ?? 10_000;
    const hello = await firstOf(
      adapter.request('hello', { protocol: protocolVersion }, readHello),
      limitMs,
      `the adapter "${hideSecrets(adapter.command)}" did not answer hello within ${limitMs} ms`,
    );
    return { adapter, hello };
  } catch (thrown) {
    await adapter.stop();
    throw new IsoldeError('connect', errorText(thrown), { cause: thrown });
  }
}

export class ExecTarget implements Target {
  readonly name: Target['name'];
  readonly dialect: Target['dialect'];
  readonly stamp: Target['stamp'];
  readonly levels: Target['levels'];
  readonly defaultLevel: Target['defaultLevel'];
  readonly features: Target['features'];
  readonly #scratches = new Set<ExecScratch>();
  #nextSession = 1;
  #adapter: AdapterProcess;

  constructor(
    adapter: AdapterProcess,
    readonly hello: Hello,
    url: string,
  ) {
    this.#adapter = adapter;
    this.name = hello.name;
    this.dialect = hello.dialect;
    this.levels = hello.levels;
    this.defaultLevel = hello.defaultLevel;
    this.features = hello.features;
    this.stamp = {
      name: hello.name,
      version: hello.version,
      url: hideSecrets(url),
      ...(hello.settings !== undefined && { settings: hello.settings }),
    };
  }

  get adapter(): AdapterProcess {
    return this.#adapter;
  }

  /** Ends the adapter with SIGKILL and goes on with another one, on the same scratches. */
  async replace(start: () => Promise<AdapterProcess>): Promise<void> {
    await this.#adapter.kill();
    this.#adapter = await start();
    for (const { namespace, inner } of this.#scratches)
      if (inner !== undefined) await this.ask('adoptScratch', { namespace, inner });
  }

  async createScratch(): Promise<Scratch> {
    const namespace = `isolde_${randomBytes(6).toString('hex')}`;
    const inner = await this.ask('createScratch', { namespace }, readInner);
    const scratch = new ExecScratch(this, namespace, inner, () => this.#scratches.delete(scratch));
    this.#scratches.add(scratch);
    return scratch;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#scratches].map((scratch) => scratch.drop()));
    await this.adapter.request('close', {}, nothing).catch(nothing);
    await this.adapter.stop();
  }

  /** A request outside any case: failing is the target's failure. */
  async ask<T = undefined>(
    op: string,
    fields: Readonly<Record<string, unknown>>,
    read: (result: unknown) => T | undefined = nothing,
  ): Promise<T | undefined> {
    try {
      return await this.adapter.request(op, fields, read);
    } catch (thrown) {
      throw new IsoldeError('target', `${op} failed: ${errorText(thrown)}`, { cause: thrown });
    }
  }

  numberSession(): number {
    return this.#nextSession++;
  }
}

class ExecScratch implements Scratch {
  readonly #sessions = new Map<number, ExecSession>();
  #dropped = false;

  constructor(
    readonly target: ExecTarget,
    readonly namespace: string,
    /** What the engine behind the adapter calls it, where it told. */
    readonly inner: string | undefined,
    readonly forget: () => void,
  ) {
    if (target.hello.reopen)
      this.reopen = async () => {
        await Promise.all([...this.#sessions.values()].map((session) => session.close()));
        await target.ask('reopen', { namespace });
      };
  }

  readonly reopen?: () => Promise<void>;

  async reset(setup: readonly string[]): Promise<void> {
    if (this.target.hello.reset) await this.#resetByAdapter(setup);
    else await this.#rebuild(setup);
  }

  async openSession(options: SessionOptions): Promise<Session> {
    if (this.#dropped) throw new IsoldeError('target', `the scratch ${this.namespace} has been dropped`);
    const session = new ExecSession(this, this.target.numberSession(), options);
    await session.connect();
    this.#sessions.set(session.id, session);
    return session;
  }

  async waiting(): Promise<ReadonlySet<Session>> {
    const { adapter } = this.target;
    const ids = await adapter
      .request('waiting', { namespace: this.namespace }, readWaiting)
      .catch((thrown) => {
        // A dead adapter has nobody waiting: its sessions have all been answered.
        if (thrown instanceof AdapterFailure) return [];
        throw new IsoldeError('target', `waiting failed: ${errorText(thrown)}`, { cause: thrown });
      });
    return new Set(ids.flatMap((id) => this.#sessions.get(id) ?? []));
  }

  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    this.forget();
    await this.target.ask('dropScratch', { namespace: this.namespace }).catch((thrown: IsoldeError) => {
      // Nothing is left to drop in a process that is gone; a refusal is worth telling.
      if (!(thrown.cause instanceof AdapterFailure)) throw thrown;
    });
  }

  removeSession(id: number): void {
    this.#sessions.delete(id);
  }

  async #resetByAdapter(setup: readonly string[]): Promise<void> {
    try {
      await this.target.adapter.request('reset', { namespace: this.namespace, setup }, nothing);
    } catch (thrown) {
      const statement = thrown instanceof AdapterRefusal ? setup[thrown.statement ?? -1] : undefined;
      throw setupError(statement ?? '(not given)', errorText(thrown));
    }
  }

  /** The scratch is made anew and the sessions connect again: for their users they never left. */
  async #rebuild(setup: readonly string[]): Promise<void> {
    const { namespace } = this;
    const sessions = [...this.#sessions.values()];
    await Promise.all(sessions.map((session) => session.disconnect()));
    await this.target.ask('dropScratch', { namespace });
    await this.target.ask('createScratch', { namespace });
    const builder = new ExecSession(this, this.target.numberSession(), {
      level: this.target.defaultLevel,
      statementTimeoutMs: 60_000,
      lockTimeoutMs: 10_000,
    });
    await builder.connect();
    try {
      for (const sql of setup) {
        const { error } = await builder.execute(sql);
        if (error !== undefined) throw setupError(sql, error.message);
      }
    } finally {
      await builder.close();
    }
    await Promise.all(sessions.map((session) => session.connect()));
  }
}

class ExecSession implements Session {
  #closed = false;

  constructor(
    readonly scratch: ExecScratch,
    readonly id: number,
    readonly options: SessionOptions,
  ) {}

  async connect(): Promise<void> {
    const { namespace, target } = this.scratch;
    await target.ask('openSession', { namespace, session: this.id, ...this.options });
  }

  async disconnect(): Promise<void> {
    await this.scratch.target.adapter.request('closeSession', { session: this.id }, nothing).catch(nothing);
  }

  async execute(sql: string): Promise<Answer> {
    if (this.#closed) return lost('connection-lost', 'the session is closed');
    const { target } = this.scratch;
    try {
      return await target.adapter.request('execute', { session: this.id, sql }, readAnswer);
    } catch (thrown) {
      const crashed = thrown instanceof AdapterFailure && thrown.kind === 'died';
      return lost(crashed ? 'crash' : 'connection-lost', errorText(thrown));
    }
  }

  async cancel(): Promise<void> {
    if (this.#closed) return;
    await this.scratch.target.adapter.request('cancel', { session: this.id }, nothing).catch(nothing);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.scratch.removeSession(this.id);
    await this.disconnect();
  }
}

function readInner(result: unknown): string | undefined {
  const { inner } = (result ?? {}) as { readonly inner?: unknown };
  return typeof inner === 'string' ? inner : undefined;
}

function lost(errorClass: 'crash' | 'connection-lost', message: string): Answer {
  return { error: { class: errorClass, message }, transaction: 'lost' };
}

function setupError(sql: string, problem: string): IsoldeError {
  return new IsoldeError('target', `The set-up statement "${sql}" failed: ${problem}`);
}

async function firstOf<T>(promise: Promise<T>, limitMs: number, late: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(late)), limitMs);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
