/**
 * A second look on another engine, or another version of it: the case of a finding runs there, held to what that engine promises. If it does
 * not show, the finding is this engine's own, and the sibling agrees. If it shows there, too, either both have the bug or neither has: undecided,
 * as is whatever the sibling cannot run (a level it lacks, statements it does not understand).
 */
import { type Finding, oraclesFor } from '../check/index.js';
import { errorText, IsoldeError } from '../errors.js';
import type { Operation } from '../histories/index.js';
import { Database, vendorContract } from '../judge/index.js';
import type { SecondLook } from '../report/index.js';
import type { Target } from '../targets/index.js';
import type { HuntRequest } from './hunt-request.js';

/** The sibling of a hunt's database; it is opened when it is first asked. */
export class Sibling {
  #database: Promise<Database | undefined> | undefined;
  #pending = true;
  readonly #seen = new Set<string>();

  /** `open` gives undefined where there is none. */
  constructor(
    private readonly open: () => Promise<Target | undefined>,
    /** `first`: only the first finding of each kind is shown to it. */
    private readonly asked: 'always' | 'first' = 'always',
    /** Ends every wait for it: a server takes seconds to start. */
    private readonly signal?: AbortSignal,
  ) {}

  /** What it says of a finding that a request shows; lanes as in the hunt. Undefined: there is none, or it is not asked. */
  async look(request: HuntRequest, finding: Finding, lane: number): Promise<SecondLook | undefined> {
    if (this.asked === 'first' && this.#seen.has(finding.kind)) return undefined;
    this.#seen.add(finding.kind);
    try {
      return await this.#unlessStopped(this.#lookAt(request, finding, lane));
    } catch (error) {
      return { by: 'sibling', says: 'undecided', note: `could not be asked: ${errorText(error)}` };
    }
  }

  /** The database itself, for whoever runs something else there; undefined: there is none, or it cannot be opened. */
  async target(): Promise<Target | undefined> {
    return (await this.#unlessStopped(this.#opened()).catch(() => undefined))?.target;
  }

  async #lookAt(request: HuntRequest, finding: Finding, lane: number): Promise<SecondLook | undefined> {
    const database = await this.#opened();
    return database && lookAt(database, request, finding, lane);
  }

  /** What is awaited; undefined as soon as the hunt is stopped. */
  async #unlessStopped<T>(awaited: Promise<T>): Promise<T | undefined> {
    const { signal } = this;
    if (signal === undefined) return awaited;
    awaited.catch(() => undefined);
    if (signal.aborted) return undefined;
    let stop = () => {};
    const stopped = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined);
      signal.addEventListener('abort', stop);
    });
    return Promise.race([awaited, stopped]).finally(() => signal.removeEventListener('abort', stop));
  }

  #opened(): Promise<Database | undefined> {
    this.#database ??= this.#openOnce().finally(() => {
      this.#pending = false;
    });
    return this.#database;
  }

  async #openOnce(): Promise<Database | undefined> {
    let first = await this.open();
    if (first === undefined) return undefined;
    return Database.open({
      open: async () => {
        const target = first ?? (await this.open());
        first = undefined;
        if (target === undefined) throw new IsoldeError('target', 'it is gone');
        return target;
      },
    });
  }

  /** One that is still being opened is closed when it arrives; a server that is being started ends with the process at the latest. */
  async close(): Promise<void> {
    const closed = this.#database?.then((database) => database?.close()).catch(() => undefined);
    if (!this.#pending) await closed;
  }
}

async function lookAt(
  database: Pick<Database, 'target' | 'observe'>,
  request: HuntRequest,
  finding: Finding,
  lane: number,
): Promise<SecondLook> {
  const { target } = database;
  const by = `${target.stamp.name} ${target.stamp.version}`;
  const undecided = (note: string): SecondLook => ({ by, says: 'undecided', note });
  const levels = [request.level, ...request.case.sessions.flatMap(({ level = [] }) => level)];
  const lacks = levels.find((level) => !target.levels.some((offered) => offered.level === level));
  if (lacks !== undefined) return undecided(`has no level ${lacks}`);
  const contract = vendorContract(target, request.level);
  const able = contract !== undefined && oraclesFor(contract).some(({ name }) => name === request.oracle);
  if (!able) return undecided(`${request.oracle} cannot judge it`);
  // What the hunt observes are tables of the whole program, and a reduced one has others.
  const observed = await database.observe({ ...request, observe: [], contract }, lane);
  if (observed.kind !== 'ran') return undecided('could not run the case');
  if (observed.findings.some(({ kind }) => kind === finding.kind))
    return undecided('shows it, too: a bug of both, or of neither');
  const refused = observed.history.operations.find(isNotUnderstood);
  if (refused !== undefined)
    return undecided(`does not understand ${refused.sql} (${refused.error!.message})`);
  return { by, says: 'agrees', note: 'does not show it' };
}

const isNotUnderstood = ({ error }: Operation): boolean =>
  error?.class === 'syntax' || error?.class === 'unsupported' || error?.class === 'other';
