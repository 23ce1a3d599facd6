/**
 * Who holds a row, or anything else that is locked, and who has to wait for whom.
 *
 * A lock is held from the answer to the statement that took it until its transaction ends. Shares go together, everything else
 * excludes each other. Histories show only spans, so two locks that conflict meet in one of four ways (`lockMeeting`).
 *
 * What follows from a meeting is the client's business: the verifier reports a lock that was granted while another was held;
 * inference takes for granted that locks held, and puts the end of the holder before the grant.
 */

export type LockMode = 'share' | 'exclusive';

export interface Lock<Owner = unknown> {
  readonly owner: Owner;
  readonly mode: LockMode;
}

export function modesConflict(a: LockMode, b: LockMode): boolean {
  return a === 'exclusive' || b === 'exclusive';
}

/**
 * How a request for a lock met one that was granted before it:
 * - `apart`: the holder had ended before the request was sent;
 * - `waited`: it was sent before the holder began to end, and answered after that: it may have waited;
 * - `overlapping`: it was sent while the holder ended;
 * - `together`: it was answered before the holder began to end, so both had the lock.
 */
export type LockMeeting = 'apart' | 'waited' | 'overlapping' | 'together';

export function lockMeeting(
  ending: { readonly start: number; readonly end: number },
  request: { readonly start: number; readonly end: number },
): LockMeeting {
  if (ending.end < request.start) return 'apart';
  if (request.end < ending.start) return 'together';
  return request.start < ending.start ? 'waited' : 'overlapping';
}

/** The locks on one object, in the order in which they were granted. */
export class RowLocks<Held extends Lock> {
  #held: Held[] = [];

  /** Those not released yet; some may be over. */
  get all(): readonly Held[] {
    return this.#held;
  }

  get isFree(): boolean {
    return this.#held.length === 0;
  }

  /** The last exclusive lock that may still be held. */
  get exclusive(): Held | undefined {
    for (let i = this.#held.length - 1; i >= 0; i--)
      if (this.#held[i]!.mode === 'exclusive') return this.#held[i];
    return undefined;
  }

  /** A lock of this owner that makes another of this mode unnecessary. */
  covering(owner: Held['owner'], mode: LockMode): Held | undefined {
    for (const held of this.#held)
      if (held.owner === owner && (held.mode === 'exclusive' || mode === 'share')) return held;
    return undefined;
  }

  /** Calls `meet` with every lock of others that excludes this mode, oldest first. */
  meet(owner: Held['owner'], mode: LockMode, meet: (held: Held) => void): void {
    for (const held of this.#held) if (held.owner !== owner && modesConflict(held.mode, mode)) meet(held);
  }

  grant(lock: Held): void {
    this.#held.push(lock);
  }

  /** Forgets all of them. */
  clear(): void {
    this.#held.length = 0;
  }

  /** Forgets locks that are over. */
  release(isOver: (held: Held) => boolean): void {
    if (this.#held.some(isOver)) this.#held = this.#held.filter((held) => !isOver(held));
  }
}
