/**
 * A store that transactions are run against one step at a time, to see whether they read what the history says. It knows
 * values, not versions: whoever wrote what was read, the value must be there; only a transaction's own appends are told apart
 * from equal ones of others. For serializable and repeatable read a transaction starts and commits in one step; for snapshot and prefix in two, and at snapshot no two open ones write one key.
 */
import {
  type KvHistory,
  kvAppend,
  kvInitial,
  kvRead,
  kvUnseen,
  kvWrite,
  listOf,
} from '../../../histories/index.js';

export class ReplayedStore {
  readonly #registers: Map<number, number>;
  readonly #lists: Map<number, number[]>;
  readonly #writing: Map<number, number>;

  constructor(
    readonly history: KvHistory,
    readonly exclusive: boolean,
    from?: ReplayedStore,
  ) {
    this.#registers = new Map(from === undefined ? [] : from.#registers);
    this.#lists = new Map(from === undefined ? [] : [...from.#lists].map(([key, list]) => [key, [...list]]));
    this.#writing = new Map(from === undefined ? [] : from.#writing);
  }

  copy(): ReplayedStore {
    return new ReplayedStore(this.history, this.exclusive, this);
  }

  /** Does a transaction that starts now read what it read? */
  start(tx: number): boolean {
    const { opKey, opKind, opValue, opOffsets } = this.history;
    const own = new Map<number, number[]>();
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const key = opKey[op]!;
      if (opKind[op] === kvWrite) own.set(key, [opValue[op]!]);
      else if (opKind[op] === kvAppend) own.set(key, [...(own.get(key) ?? []), opValue[op]!]);
      else if (opValue[op] === kvUnseen) continue;
      else if (opKind[op] === kvRead) {
        const held = own.get(key)?.at(-1) ?? this.#registers.get(key) ?? kvInitial;
        const isInitial = held === kvInitial && opValue[op] === this.history.initialValue;
        if (opValue[op] !== held && !isInitial) return false;
      } else {
        const list = this.#lists.get(key) ?? [];
        const appended = own.get(key) ?? [];
        const seen = listOf(this.history, op);
        if (seen.length !== list.length + appended.length) return false;
        if (!seen.every((value, i) => value === (i < list.length ? list[i] : appended[i - list.length])))
          return false;
      }
    }
    if (!this.exclusive) return true;
    for (const key of own.keys()) {
      if (this.#writing.has(key)) return false;
      this.#writing.set(key, tx);
    }
    return true;
  }

  /**
   * Installs what a transaction wrote. Lists it read behind its own appends must be what is installed now, its own elements in the
   * places where it saw them: nobody else may have appended since it started.
   */
  commit(tx: number): boolean {
    const { opKey, opKind, opValue, opOffsets } = this.history;
    const lengthsBefore = new Map<number, number>();
    const appended = new Map<number, number>();
    let asSeen = true;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const key = opKey[op]!;
      if (opKind[op] === kvWrite) this.#registers.set(key, opValue[op]!);
      else if (opKind[op] === kvAppend) {
        const list = this.#lists.get(key) ?? [];
        if (!appended.has(key)) lengthsBefore.set(key, list.length);
        list.push(opValue[op]!);
        this.#lists.set(key, list);
        appended.set(key, (appended.get(key) ?? 0) + 1);
      } else if (opKind[op] !== kvRead && appended.has(key) && opValue[op] !== kvUnseen)
        asSeen &&= listOf(this.history, op).length - appended.get(key)! === lengthsBefore.get(key);
      if (opKind[op]! >= kvWrite) this.#writing.delete(key);
    }
    return asSeen;
  }
}
