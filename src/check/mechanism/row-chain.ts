/**
 * The versions of one row as the verifier knows them (`rows/version-chain.ts` says which of them a reader may see).
 *
 * A transaction adds at most one version to a row; what it wrote step by step are the version's states, each with all values it may
 * have. Every version carries the span in which it committed.
 *
 * Two versions of a row are in a certain order if their commits do not overlap, or through the writers' locks: whoever
 * wrote a row holds it until its end, so if B began to commit only after A had written, A was first (Pisco §4).
 * The second rule asks for a contract that makes writers of a row exclude each other.
 *
 * What a transaction wrote itself comes before everything (`own`).
 */
import {
  always,
  type Image,
  type Interval,
  mergeImages,
  never,
  RowLocks,
  type Tx,
  VersionChain,
  type VisibilityRules,
} from '../../rows/index.js';
import type { HeldLock } from './locks.js';

export interface State {
  /** The operation that wrote it; -1: the initial state. */
  readonly operation: number;
  readonly span: Interval;
  /** The values it may have; more than one where the base was ambiguous. */
  images: readonly Image[];
  /** Whether this write certainly met the row and is committed with its transaction. */
  readonly certain: boolean;
  /**
   * Whether it certainly met the row, so that its own transaction sees it; others need not, where a write that leaves a row as it was is not
   * committed (`idle-writes.ts`). Absent: as `certain`.
   */
  readonly met?: boolean;
  /** Left the row as it was, for certain: nobody but its own transaction needs to know. */
  readonly idle?: boolean;
}

export interface Version {
  /** undefined: the initial state. */
  readonly tx: Tx | undefined;
  /** When others may first see it; never: there is nothing to commit (`State.idle`). */
  commit: Interval;
  /** Whether the row was written for certain. */
  certain: boolean;
  /** Whether its own transaction certainly sees it. */
  met: boolean;
  readonly states: State[];
  /** Made of several old versions (`RowChain.#joinOld`); it has no writer, but is not the initial state. */
  readonly joined?: true;
}

/** A version no reader can see any more, kept to say where a wrong value came from. */
export interface RetiredVersion {
  readonly tx: Tx | undefined;
  /** The operation that wrote it; -1: the initial state. */
  readonly operation: number;
  readonly images: readonly Image[];
}

/** A DELETE that selected the row in its transaction's snapshot and met nothing: others had deleted it (`own-deletes.ts`). */
export interface VainDelete {
  readonly tx: Tx;
  readonly operation: number;
  /** Whether the DELETE certainly selected the row, and the row was certainly gone. */
  readonly certain: boolean;
}

export interface View {
  readonly span: Interval;
  /** Rows are looked at one by one during the span, not all at one instant of it. */
  readonly current: boolean;
  /** Uncommitted versions are visible too. */
  readonly dirty: boolean;
}

const retiredKept = 6;
/** So many versions that every reader is past, doubtful or in no certain order, are kept apart. */
export const oldKept = 8;

export function imagesOf(version: Version): readonly Image[] {
  return version.states.at(-1)!.images;
}

export class RowChain extends VersionChain<Version> {
  #locks: RowLocks<HeldLock> | undefined;
  retired: RetiredVersion[] = [];
  /** What ROLLBACK TO took back: readers of uncommitted data may have seen it until then. */
  undone: { readonly images: readonly Image[]; readonly until: number }[] = [];
  /** DELETEs that met nothing here, under contracts by which they hide the row from their own transaction. */
  vainDeletes: VainDelete[] = [];

  constructor(
    readonly table: string,
    /** The row's name: its identity as text. */
    readonly key: string,
    initial: Image,
  ) {
    super();
    const state: State = { operation: -1, span: always, images: [initial], certain: true };
    this.versions.push({ tx: undefined, commit: always, certain: true, met: true, states: [state] });
  }

  /** Most rows are never locked by anybody. */
  get locks(): RowLocks<HeldLock> {
    this.#locks ??= new RowLocks();
    return this.#locks;
  }

  get object(): string {
    return `${this.table}/${this.key}`;
  }

  own(tx: Tx): Version | undefined {
    for (let i = this.versions.length - 1; i >= 0; i--)
      if (this.versions[i]!.tx === tx) return this.versions[i];
    return undefined;
  }

  /** The DELETE by which a transaction hid the row from itself; a write of its own after that brings it back. */
  hiddenBy(tx: Tx): VainDelete | undefined {
    if (this.vainDeletes.length === 0) return undefined;
    const own = this.own(tx);
    if (own?.met === true) return undefined;
    const deletes = this.vainDeletes.filter((each) => each.tx === tx);
    const found = deletes.find(({ certain }) => certain) ?? deletes[0];
    return found === undefined || own === undefined ? found : { ...found, certain: false };
  }

  /** The versions a reader may see; `exclusive`: writers of a row exclude each other. No reader: one that wrote nothing. */
  allowed(view: View, reader: Tx | undefined, exclusive: boolean): Version[] {
    const own = reader === undefined ? undefined : this.own(reader);
    if (own?.met === true) return [own];
    const seen = this.visible(view.span, rulesOf(view.dirty, exclusive), own);
    return own === undefined ? seen : [...seen, own];
  }

  /** Adds a state to the transaction's version of this row, or a version with it. */
  write(tx: Tx, state: State): Version {
    const own = this.own(tx);
    const met = isMet(state);
    if (own === undefined) {
      const commit = commitOf(tx, [state]);
      const version: Version = { tx, commit, certain: state.certain, met, states: [state] };
      this.versions.push(version);
      return version;
    }
    // A write that may have missed the row leaves the earlier values possible.
    if (!met) state.images = mergeImages([...state.images, ...imagesOf(own)]);
    own.states.push(state);
    own.certain ||= state.certain;
    own.met ||= met;
    own.commit = commitOf(tx, own.states);
    return own;
  }

  /** Takes back what `tx` wrote from `operation` on (ROLLBACK TO, over by `time`). */
  undo(tx: Tx, operation: number, time: number): void {
    this.vainDeletes = this.vainDeletes.filter((each) => each.tx !== tx || each.operation < operation);
    const own = this.own(tx);
    if (own === undefined) return;
    while (own.states.length > 0 && own.states.at(-1)!.operation >= operation)
      this.undone.push({ images: own.states.pop()!.images, until: time });
    own.certain = own.states.some((state) => state.certain);
    own.met = own.states.some(isMet);
    own.commit = commitOf(tx, own.states);
    if (own.states.length === 0) this.versions = this.versions.filter((version) => version !== own);
  }

  /** The transaction is over: what only it could see, nobody can. */
  dropIdle(tx: Tx): void {
    const own = this.own(tx);
    if (own !== undefined && isIdleVersion(own))
      this.versions = this.versions.filter((version) => version !== own);
  }

  /**
   * Drops the versions that no reader with a snapshot from `watermark` on can see, telling `onDrop` what followed
   * each of them, and joins old ones if there are more than `oldKept`.
   */
  prune(watermark: number, exclusive: boolean, onDrop?: (dropped: Version, next: Version) => void): void {
    this.#locks?.release(({ owner }) => owner.holdsLocksUntil < watermark);
    if (this.undone.length > 0) this.undone = this.undone.filter(({ until }) => until >= watermark);
    if (this.vainDeletes.length > 0)
      this.vainDeletes = this.vainDeletes.filter(({ tx }) => tx.end.end >= watermark);
    if (this.versions.length < 2) return;
    const settled = this.versions.filter((version) => version.certain && version.commit.end < watermark);
    if (
      settled.length === 0 &&
      this.versions.length <= oldKept &&
      !this.versions.some((version) => isOver(version, watermark))
    )
      return;
    const kept: Version[] = [];
    for (const version of this.versions) {
      const next = settled.find((other) => other !== version && comesBefore(version, other, exclusive));
      if (next !== undefined) {
        if (version.tx?.fate !== 'aborted') onDrop?.(version, next);
      } else if (!isOver(version, watermark)) {
        kept.push(version);
        continue;
      }
      this.#retire(version);
    }
    this.versions = kept.length > oldKept ? this.#joinOld(kept, watermark) : kept;
    if (this.retired.length > retiredKept) this.retired = this.retired.slice(-retiredKept);
  }

  /**
   * Versions that every reader is past may be any number, where no write is certain to have come after them: each write that may
   * have missed the row adds one. Together they are one version, with every value that one of them may have left; which of them
   * was the last is not known in any case. It comes before all others, so only those are taken that certainly do.
   */
  #joinOld(versions: readonly Version[], watermark: number): Version[] {
    let old = versions.filter(
      ({ tx, commit }) =>
        commit.end < watermark && (tx === undefined || (tx.fate === 'committed' && tx.end.end < watermark)),
    );
    for (let count = -1; count !== old.length; ) {
      count = old.length;
      const taken = new Set(old);
      const limit = Math.min(
        ...versions.filter((each) => !taken.has(each)).map(({ commit }) => commit.start),
      );
      old = old.filter(({ commit }) => commit.end < limit);
    }
    if (old.length <= oldKept) return [...versions];
    for (const version of old) this.#retire(version);
    const images = mergeImages(old.flatMap(imagesOf));
    const state: State = { operation: -1, span: always, images, certain: true };
    const joined: Version = {
      tx: undefined,
      commit: always,
      certain: true,
      met: true,
      states: [state],
      joined: true,
    };
    const taken = new Set(old);
    return [joined, ...versions.filter((each) => !taken.has(each))];
  }

  #retire(version: Version): void {
    if (version.joined === true) return;
    const { operation, images } = version.states.at(-1)!;
    this.retired.push({ tx: version.tx, operation, images });
  }

  /** There is no row and nobody can see one: as if it had never been. */
  get isGone(): boolean {
    if (this.versions.length !== 1 || this.#locks?.isFree === false) return false;
    const images = imagesOf(this.versions[0]!);
    return images.length === 1 && images[0] === 'absent';
  }
}

function commitOf(tx: Tx, states: State[]): Interval {
  return isIdleVersion({ states }) ? never : tx.commit;
}

/** Whether a version only repeats what the row held, for its own transaction. */
export function isIdleVersion({ states }: Pick<Version, 'states'>): boolean {
  return states.every(({ idle }) => idle === true);
}

function isMet({ certain, met = certain }: State): boolean {
  return met;
}

const committedRules: VisibilityRules<Version> = {
  earliest: ({ commit }) => commit.start,
  latest: ({ commit }) => commit.end,
  isCertain: ({ certain }) => certain,
  comesBefore: (a, b) => comesBefore(a, b, false),
};
const exclusiveRules: VisibilityRules<Version> = {
  ...committedRules,
  comesBefore: (a, b) => comesBefore(a, b, true),
};

function rulesOf(dirty: boolean, exclusive: boolean): VisibilityRules<Version> {
  const rules = exclusive ? exclusiveRules : committedRules;
  return dirty ? { ...rules, isSeenEarly: isDirtyIn } : rules;
}

/** A rolled-back version that ended before anybody still running began. */
function isOver(version: Version, watermark: number): boolean {
  return version.tx?.fate === 'aborted' && version.tx.end.end < watermark;
}

function isDirtyIn(version: Version, span: Interval): boolean {
  return (
    version.tx !== undefined &&
    version.tx.end.end >= span.start &&
    version.states.some((state) => state.span.start <= span.end)
  );
}

/** Whether `a` certainly precedes `b`. */
export function comesBefore(a: Version, b: Version, exclusive: boolean): boolean {
  if (a.tx === undefined) return b.tx !== undefined;
  if (b.tx === undefined) return false;
  if (a.commit.end < b.commit.start) return true;
  // Both at once means that the locks did not hold; then they prove nothing.
  return exclusive && wroteBeforeCommit(a, b) && !wroteBeforeCommit(b, a) && !(b.commit.end < a.commit.start);
}

function wroteBeforeCommit(a: Version, b: Version): boolean {
  return a.states[0]!.span.end < b.commit.start && b.commit.start !== Number.POSITIVE_INFINITY;
}

/** All images of several versions; of uncommitted ones every state counts that was not overwritten before. */
export function imagesOfAll(versions: readonly Version[], view: View): readonly Image[] {
  if (versions.length === 1 && !view.dirty) return imagesOf(versions[0]!);
  const images = versions.flatMap((version) =>
    view.dirty && version.tx !== undefined
      ? statesIn(version, view.span).flatMap((state) => state.images)
      : imagesOf(version),
  );
  return mergeImages(images);
}

/** The states that an uncommitted version may have shown then: the last one written before, and those that followed. */
function statesIn({ states }: Version, { start }: Interval): readonly State[] {
  const settled = states.findLastIndex((state) => state.span.end < start);
  return settled <= 0 ? states : states.slice(settled);
}
