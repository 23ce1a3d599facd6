/**
 * The adapter's process: requests out, answers in, one JSON object a line, matched by `id`.
 *
 * Two ways to fail, kept apart: the process **died** (what it tested may have crashed with it: class `crash`),
 * or it **broke the protocol** (nothing it says can be trusted any more: it is stopped, and the line at fault
 * is quoted). Either way every open request is answered at once and every later one too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { errorText } from '../../errors.js';
import { secretsIn, withoutSecrets } from '../../secrets.js';
import { object, ProtocolError, shorten } from './protocol.js';

/** Why the adapter is of no use any more. */
export class AdapterFailure extends Error {
  constructor(
    readonly kind: 'died' | 'protocol',
    message: string,
  ) {
    super(message);
  }
}

/** The adapter understood the request and says no. */
export class AdapterRefusal extends Error {
  constructor(
    message: string,
    /** For `reset`: which statement failed. */
    readonly statement: number | undefined,
  ) {
    super(message);
  }
}

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const maxLineLength = 256 * 1024 * 1024;
const stderrKept = 4000;

/** A program started without a shell. */
export interface AdapterProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** What messages call it. */
  readonly shown: string;
  /** Variables besides those of this process: what others must not see in the list of processes. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class AdapterProcess {
  readonly #child: ChildProcess;
  readonly #waiters = new Map<number, Waiter>();
  #nextId = 1;
  #parts: string[] = [];
  #partsLength = 0;
  #stderr = '';
  #failure: AdapterFailure | undefined;
  readonly #exited: Promise<void>;

  /** As messages name it. */
  readonly command: string;

  constructor(command: string | AdapterProgram) {
    // Own process group: the shell and what it started end together.
    const options = { detached: true, stdio: 'pipe' } as const;
    this.command = typeof command === 'string' ? command : command.shown;
    this.#child =
      typeof command === 'string'
        ? spawn(command, { ...options, shell: true })
        : spawn(command.file, command.args, {
            ...options,
            ...(command.environment && { env: { ...process.env, ...command.environment } }),
          });
    this.#child.stdout!.setEncoding('utf8').on('data', (chunk: string) => this.#receive(chunk));
    this.#child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-stderrKept);
    });
    // Writing to a process that just died: its exit is reported by 'close'.
    this.#child.stdin!.on('error', () => {});
    this.#exited = new Promise((resolve) => {
      this.#child.on('error', (error) => {
        this.#fail('died', `cannot be started: ${error.message}`);
        resolve();
      });
      this.#child.on('close', (code, signal) => {
        this.#fail('died', signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
        resolve();
      });
    });
  }

  /** Sends a request. Rejects with `AdapterFailure` or `AdapterRefusal`; `read` checks the result. */
  async request<T>(
    op: string,
    fields: Readonly<Record<string, unknown>>,
    read: (result: unknown) => T,
  ): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = this.#nextId++;
    const result = await new Promise<unknown>((resolve, reject) => {
      this.#waiters.set(id, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify({ id, op, ...fields })}\n`);
    });
    try {
      return read(result);
    } catch (thrown) {
      throw this.#fail('protocol', `answered ${op} wrongly: ${errorText(thrown)}`);
    }
  }

  /** Closes its input, which asks it to leave; after two seconds it has to. */
  async stop(): Promise<void> {
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.#kill(), 2000);
    await this.#exited;
    clearTimeout(timer);
  }

  /** The process itself; undefined: it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.#kill();
    await this.#exited;
  }

  #receive(chunk: string): void {
    let rest = chunk;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const line = this.#parts.join('') + rest.slice(0, end);
      this.#parts = [];
      this.#partsLength = 0;
      rest = rest.slice(end + 1);
      if (line.trim() !== '' && this.#failure === undefined) this.#receiveLine(line);
    }
    this.#parts.push(rest);
    this.#partsLength += rest.length;
    if (this.#partsLength > maxLineLength) {
      this.#parts = [];
      this.#partsLength = 0;
      this.#fail('protocol', `wrote a line longer than ${maxLineLength} characters`);
    }
  }

  #receiveLine(line: string): void {
    try {
      const message = object(JSON.parse(line), 'the line');
      const waiter = this.#waiters.get(message.id as number);
      if (waiter === undefined) {
        throw new ProtocolError(`no request with id ${JSON.stringify(message.id)} is open`);
      }
      if (message.error === undefined && message.ok === undefined) {
        throw new ProtocolError('it has neither "ok" nor "error"');
      }
      this.#waiters.delete(message.id as number);
      if (message.error === undefined) waiter.resolve(message.ok);
      else {
        const statement = typeof message.statement === 'number' ? message.statement : undefined;
        waiter.reject(new AdapterRefusal(shorten(String(message.error)), statement));
      }
    } catch (thrown) {
      this.#fail('protocol', `wrote a line that is no answer (${errorText(thrown)}): ${shorten(line)}`);
    }
  }

  #fail(kind: AdapterFailure['kind'], what: string): AdapterFailure {
    if (this.#failure !== undefined) return this.#failure;
    const stderr = this.#stderr.trim();
    const heard = stderr === '' ? '' : `; its standard error ends:\n${stderr}`;
    const said = `the adapter "${shorten(this.command)}" ${what}${heard}`;
    const failure = new AdapterFailure(kind, withoutSecrets(said, secretsIn(this.command)));
    this.#failure = failure;
    for (const waiter of this.#waiters.values()) waiter.reject(failure);
    this.#waiters.clear();
    if (kind === 'protocol') this.#kill();
    return failure;
  }

  #kill(): void {
    const { pid, exitCode } = this.#child;
    if (pid === undefined || exitCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Already gone between the check and the signal.
    }
  }
}
