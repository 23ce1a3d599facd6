/**
 * A target whose isolation is broken in one known way. Everything but the broken statements goes straight to
 * the wrapped target, and its stamp says so: nobody should mistake a planted bug for a real one.
 */
import { IsoldeError } from '../../errors.js';
import { type Catalog, openCatalog } from '../../rows/index.js';
import type { Scratch, Session, SessionOptions, Target, TargetReach } from '../target.js';
import { type FaultSpec, showFault } from './fault-spec.js';
import { type FaultyHost, FaultySession } from './faulty-session.js';
import { mechanisms } from './mechanisms.js';
import { anyTableOf, indexedColumns } from './statement-shape.js';
import { Trigger } from './trigger.js';
import type { DeletedRows, Mechanism, ReusedKey } from './turn.js';

/** The fault has nothing to break in this engine. */
export class UnfitFault extends IsoldeError {
  constructor({ name }: FaultSpec, target: Target, problem: string) {
    super('usage', `The fault ${name} cannot be injected into ${target.name}: ${problem}`);
  }
}

/** Wraps a target; throws `UnfitFault` when the fault has nothing to break in this engine. */
export function withFault(target: Target, spec: FaultSpec): Target {
  const { unfit } = mechanisms[spec.name];
  const problem = unfit?.(target);
  if (problem !== undefined) {
    throw new UnfitFault(spec, target, problem);
  }
  return new FaultyTarget(target, spec);
}

class FaultyTarget implements Target {
  readonly name: Target['name'];
  readonly dialect: Target['dialect'];
  readonly stamp: Target['stamp'];
  readonly levels: Target['levels'];
  readonly defaultLevel: Target['defaultLevel'];
  readonly features: Target['features'];
  readonly nodes?: NonNullable<Target['nodes']>;

  constructor(
    readonly inner: Target,
    readonly spec: FaultSpec,
  ) {
    this.name = inner.name;
    this.dialect = inner.dialect;
    this.levels = inner.levels;
    this.defaultLevel = inner.defaultLevel;
    this.features = inner.features;
    if (inner.nodes !== undefined) this.nodes = inner.nodes;
    const fault = showFault(spec);
    const { url, settings } = inner.stamp;
    this.stamp = {
      ...inner.stamp,
      ...(url !== undefined && {
        url: `${url}${url.includes('?') ? '&' : '?'}fault=${encodeURIComponent(fault)}`,
      }),
      settings: { ...settings, fault },
    };
  }

  async createScratch(): Promise<Scratch> {
    return new FaultyScratch(await this.inner.createScratch(), this.inner, this.spec);
  }

  async reach(): Promise<TargetReach> {
    return (await this.inner.reach?.()) ?? { kind: 'unknown' };
  }

  memoryBytes(): number | undefined {
    return this.inner.memoryBytes?.();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

class FaultyScratch implements Scratch, FaultyHost {
  readonly namespace: string;
  readonly mechanism: Mechanism;
  readonly afterStatement: FaultyHost['afterStatement'];
  readonly catchUp?: NonNullable<Scratch['catchUp']>;
  readonly keepHistory?: NonNullable<Scratch['keepHistory']>;
  readonly trigger: Trigger;
  readonly sessions = new Set<FaultySession>();
  /** Whose a session of the wrapped target is, auxiliary ones included. */
  readonly owners = new Map<Session, FaultySession>();
  /** Committed deletes that still show, newest last; also rows that were accepted and never stored. */
  ghosts: DeletedRows[] = [];
  reusedKey: ReusedKey | undefined;
  #setup: readonly string[] = [];
  #catalog: Catalog | undefined;
  #indexed: ReadonlySet<string> | undefined;

  constructor(
    readonly inner: Scratch,
    readonly target: Target,
    readonly spec: FaultSpec,
  ) {
    this.namespace = inner.namespace;
    if (inner.catchUp !== undefined) this.catchUp = (limitMs) => inner.catchUp!(limitMs);
    if (inner.keepHistory !== undefined) this.keepHistory = () => inner.keepHistory!();
    this.trigger = new Trigger(spec);
    const fault = mechanisms[spec.name];
    this.mechanism = fault.execute;
    this.afterStatement = fault.afterStatement;
  }

  async reset(setup: readonly string[]): Promise<void> {
    await this.endAuxiliaryTransactions();
    this.trigger.reset();
    this.ghosts = [];
    this.reusedKey = undefined;
    this.#setup = setup;
    this.#catalog = undefined;
    this.#indexed = undefined;
    await this.inner.reset(setup);
    const { afterReset } = mechanisms[this.spec.name];
    if (afterReset !== undefined) await Promise.all([...this.sessions].map(afterReset));
  }

  get catalog(): Catalog {
    this.#catalog ??= openCatalog({ dialect: this.target.dialect, setup: this.#setup, statements: [] });
    return this.#catalog;
  }

  /** A table of the set-up: reading it pins an auxiliary transaction's snapshot. */
  get anyTable(): string | undefined {
    return anyTableOf(this.catalog);
  }

  get indexed(): ReadonlySet<string> {
    this.#indexed ??= indexedColumns(this.catalog);
    return this.#indexed;
  }

  async openSession(options: SessionOptions): Promise<Session> {
    const session = new FaultySession(this, await this.inner.openSession(options), options);
    this.sessions.add(session);
    await mechanisms[this.spec.name].afterReset?.(session);
    return session;
  }

  async waiting(): Promise<ReadonlySet<Session>> {
    const inner = await this.inner.waiting();
    return new Set([...inner].flatMap((session) => this.owners.get(session) ?? []));
  }

  async endAuxiliaryTransactions(): Promise<void> {
    for (const session of this.sessions) await session.endAuxiliaryTransactions();
  }

  async drop(): Promise<void> {
    await Promise.all([...this.sessions].map((session) => session.close()));
    await this.inner.drop();
  }
}
