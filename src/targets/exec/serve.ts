/**
 * The other side of the exec protocol (`docs/formats/exec-protocol.md`): serves a target over JSON lines, so that an engine that lives
 * inside a process can live inside another one than ours, and die there.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { errorText, IsoldeError } from '../../errors.js';
import type { Scratch, Session, SessionOptions, Target } from '../target.js';
import { protocolVersion } from './protocol.js';

interface Request extends SessionOptions {
  readonly id: number;
  readonly op: string;
  readonly protocol: number;
  readonly namespace: string;
  readonly session: number;
  readonly setup: readonly string[];
  readonly sql: string;
  /** What the engine itself calls a scratch. */
  readonly inner: string;
}

/** Answers requests until the input ends; then the target is closed. */
export async function serveTarget(target: Target, input: Readable, output: Writable): Promise<void> {
  const server = new TargetServer(target);
  const answer = (line: object) => output.write(`${JSON.stringify(line)}\n`);
  for await (const line of createInterface({ input })) {
    const request = JSON.parse(line) as Request;
    // Not awaited: requests of different sessions overlap.
    server.handle(request).then(
      (ok) => answer({ id: request.id, ok: ok ?? {} }),
      (error: unknown) => answer({ id: request.id, error: errorText(error) }),
    );
  }
  await target.close();
}

/** Answers every request with why there is no target. */
export async function refuseToServe(error: unknown, input: Readable, output: Writable): Promise<void> {
  for await (const line of createInterface({ input })) {
    const { id } = JSON.parse(line) as Request;
    output.write(`${JSON.stringify({ id, error: errorText(error) })}\n`);
  }
}

class TargetServer {
  /** By the name the other side chose: the target has one of its own. */
  readonly #scratches = new Map<string, Scratch>();
  readonly #sessions = new Map<number, Session>();

  constructor(private readonly target: Target) {}

  async handle(request: Request): Promise<unknown> {
    switch (request.op) {
      case 'hello':
        return this.#hello(request.protocol);
      case 'reach':
        return (await this.target.reach?.()) ?? { kind: 'unknown' };
      case 'createScratch': {
        const scratch = await this.target.createScratch();
        this.#scratches.set(request.namespace, scratch);
        return { inner: scratch.namespace };
      }
      case 'adoptScratch':
        this.#scratches.set(request.namespace, await this.#adopt(request.inner));
        return undefined;
      case 'reopen':
        return this.#scratch(request).reopen?.();
      case 'dropScratch':
        await this.#scratches.get(request.namespace)?.drop();
        this.#scratches.delete(request.namespace);
        return undefined;
      case 'reset':
        return this.#scratch(request).reset(request.setup);
      case 'openSession':
        this.#sessions.set(request.session, await this.#scratch(request).openSession(request));
        return undefined;
      case 'closeSession':
        await this.#sessions.get(request.session)?.close();
        this.#sessions.delete(request.session);
        return undefined;
      case 'execute':
        return this.#session(request).execute(request.sql);
      case 'cancel':
        return this.#session(request).cancel();
      case 'waiting':
        return this.#waiting(this.#scratch(request));
      case 'close':
        return undefined;
      default:
        throw new IsoldeError('usage', `there is no request "${request.op}"`);
    }
  }

  #hello(protocol: number): unknown {
    if (protocol !== protocolVersion)
      throw new IsoldeError('usage', `protocol ${protocol} is not spoken here`);
    const { name, dialect, levels, defaultLevel, features, stamp } = this.target;
    const { version, settings } = stamp;
    const durable = this.target.adoptScratch !== undefined;
    return {
      ...{ name, version, dialect, levels, defaultLevel, features, settings: settings ?? {} },
      ...{ reset: true, reopen: durable, durable },
    };
  }

  #adopt(inner: string): Promise<Scratch> {
    if (this.target.adoptScratch === undefined)
      throw new IsoldeError('usage', 'scratches do not outlive this engine');
    return this.target.adoptScratch(inner);
  }

  async #waiting(scratch: Scratch): Promise<unknown> {
    const waiting = await scratch.waiting();
    return {
      sessions: [...this.#sessions].flatMap(([number, session]) => (waiting.has(session) ? number : [])),
    };
  }

  #scratch({ namespace }: Request): Scratch {
    const scratch = this.#scratches.get(namespace);
    if (scratch === undefined) throw new IsoldeError('usage', `there is no scratch "${namespace}"`);
    return scratch;
  }

  #session({ session: number }: Request): Session {
    const session = this.#sessions.get(number);
    if (session === undefined) throw new IsoldeError('usage', `there is no session ${number}`);
    return session;
  }
}
