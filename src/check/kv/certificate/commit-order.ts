/**
 * Holds an order of commits to the definitions of the levels below prefix, by their letter: every key's versions are
 * taken in this order.
 *
 * - Everywhere: a transaction sees its own writes, what it read was written, lists are the beginning of the key's list.
 * - Read committed and above: what it read is the last write of that key by a transaction of the order, and came before.
 * - Cursor stability: who reads a key and writes it writes the version next to the one it read.
 * - Monotonic atomic view, read atomic, causal: if T3 reads x from T1 and sees T2, another writer of x, T2 came before T1.
 *   T3 sees what an earlier read of it read from; or what any read did, and its session; or all that leads to it.
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
import type { BaseLevel } from '../../levels.js';

/** A read of what another transaction wrote; `from` -1: the initial state. */
interface External {
  readonly key: number;
  readonly from: number;
}

export class CommitOrder {
  readonly #place: Int32Array;
  readonly #writers = new Map<string, number[]>();
  readonly #written = new Map<number, number[]>();
  /** The list of each key that the order makes, and who appended each element. */
  readonly #full = new Map<number, number[]>();
  readonly #appenders = new Map<number, number[]>();

  constructor(
    readonly history: KvHistory,
    readonly base: BaseLevel,
    readonly order: readonly number[],
    readonly reads: Readonly<Record<string, number>> = {},
  ) {
    this.#place = new Int32Array(history.txCount).fill(-1);
    order.forEach((tx, i) => {
      this.#place[tx] = i;
    });
    // At read uncommitted what aborted may be read as well.
    const readable =
      base === 'read uncommitted' ? Array.from({ length: history.txCount }, (_, tx) => tx) : order;
    for (const tx of readable) this.#eachWrite(tx, (op, id) => push(this.#writers, id, op));
    for (const tx of order) {
      this.#eachWrite(tx, (op) => {
        const key = history.opKey[op]!;
        if (this.#written.get(key)?.at(-1) !== tx) push(this.#written, key, tx);
        if (history.opKind[op] !== kvAppend) return;
        push(this.#full, key, history.opValue[op]!);
        push(this.#appenders, key, tx);
      });
    }
  }

  #eachWrite(tx: number, visit: (op: number, id: string) => void): void {
    const { opOffsets, opKind, opKey, opValue } = this.history;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op]! >= kvWrite) visit(op, `${opKey[op]}/${opValue[op]}`);
    }
  }

  /** Why the order does not prove the level; undefined if it does. */
  fault(): string | undefined {
    const external = new Map<number, readonly External[]>();
    for (const tx of this.order) {
      const reads = this.#readsOf(tx);
      if (typeof reads === 'string') return reads;
      external.set(tx, reads);
    }
    switch (this.base) {
      case 'cursor stability':
        return this.#cursorFault(external);
      case 'monotonic atomic view':
        return this.#sightFault(external, () => []);
      case 'read atomic':
        return this.#sightFault(external, (tx) => external.get(tx)!.map(({ from }) => from), true);
      case 'causal':
        return this.#causalFault(external);
      default:
        return undefined;
    }
  }

  /** What a transaction read of others, or what is wrong with it. */
  #readsOf(tx: number): readonly External[] | string {
    const { opOffsets, opKind, opKey, opValue } = this.history;
    const own = new Map<number, number[]>();
    const external: External[] = [];
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const key = opKey[op]!;
      const value = opValue[op]!;
      const mine = own.get(key) ?? [];
      if (opKind[op]! >= kvWrite) push(own, key, value);
      else if (value === kvUnseen) continue;
      else if (opKind[op] === kvRead) {
        if (mine.length > 0) {
          if (mine.at(-1) !== value) return `operation ${op} misses its own write`;
          continue;
        }
        const from = value === kvInitial ? -1 : this.#source(tx, op, value);
        if (typeof from === 'string') return from;
        external.push({ key, from });
      } else {
        const from =
          this.base === 'read uncommitted' ? this.#looseList(tx, op, mine) : this.#list(tx, op, mine);
        if (typeof from === 'string') return from;
        external.push({ key, from });
      }
    }
    return external;
  }

  /** The transaction that a read saw, or what is wrong with that. */
  #source(tx: number, op: number, value: number): number | string {
    const key = this.history.opKey[op]!;
    const writes = (this.#writers.get(`${key}/${value}`) ?? []).filter(
      (write) => this.#txOf(write) !== tx || write < op,
    );
    if (value === this.history.initialValue && (this.reads[op] ?? -1) === -1) return -1;
    if (writes.length === 0) return `nobody wrote what operation ${op} read`;
    if (this.base === 'read uncommitted') return this.#txOf(writes[0]!);
    const finals = writes.filter((write) => this.#isFinal(write)).map((write) => this.#txOf(write));
    const before = finals.filter((writer) => this.#place[writer]! < this.#place[tx]!);
    if (before.length === 0) return `operation ${op} read what was not committed before`;
    const given = this.reads[op];
    if (given !== undefined)
      return before.includes(given) ? given : `operation ${op} did not read from ${given}`;
    return before.reduce((latest, writer) => (this.#place[writer]! > this.#place[latest]! ? writer : latest));
  }

  #txOf(op: number): number {
    const { opOffsets } = this.history;
    let low = 0;
    let high = this.history.txCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (opOffsets[middle]! <= op) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #isFinal(write: number): boolean {
    const { opOffsets, opKind, opKey } = this.history;
    const end = opOffsets[this.#txOf(write) + 1]!;
    for (let op = write + 1; op < end; op++) {
      if (opKey[op] === opKey[write] && opKind[op]! >= kvWrite) return false;
    }
    return true;
  }

  /**
   * The transaction whose element is the last in a list that is not the reader's own, or what is wrong with the list: it must begin the
   * key's list, so the place of an element says whose it is.
   */
  #list(tx: number, op: number, mine: readonly number[]): number | string {
    const key = this.history.opKey[op]!;
    const list = listOf(this.history, op);
    const appenders = (this.#appenders.get(key) ?? []).slice(0, list.length);
    if (!list.every((value, i) => value === this.#full.get(key)?.[i]))
      return `operation ${op} read a list that is not the beginning of its key's`;
    const own = appenders.filter((writer) => writer === tx).length;
    if (own !== mine.length) return `operation ${op} does not see its transaction's own appends so far`;
    const last = appenders.findLastIndex((writer) => writer !== tx);
    if (last < 0) return -1;
    const from = appenders[last]!;
    if (this.#place[from]! > this.#place[tx]!) return `operation ${op} read what was not committed before`;
    const next = this.#appenders.get(key)![last + 1];
    return next === from ? `operation ${op} read what its writer appended to` : from;
  }

  /**
   * The same where what did not commit may be read: it has no version. Without it a list begins the key's list; an element that was appended
   * more than once may be the one or the other.
   */
  #looseList(tx: number, op: number, mine: readonly number[]): number | string {
    const key = this.history.opKey[op]!;
    const list = listOf(this.history, op);
    const full = this.#full.get(key) ?? [];
    const appenders = this.#appenders.get(key) ?? [];
    const notInstalled = (value: number): number =>
      (this.#writers.get(`${key}/${value}`) ?? []).filter((write) => this.#place[this.#txOf(write)]! < 0)
        .length;
    const explains = (at: number, place: number, own: number, loose: readonly number[]): boolean => {
      const value = list[at];
      if (value === undefined) return own === mine.length;
      const isOwn = appenders[place] === tx ? 1 : 0;
      if (value === full[place] && explains(at + 1, place + 1, own + isOwn, loose)) return true;
      const used = loose.filter((each) => each === value).length;
      return used < notInstalled(value) && explains(at + 1, place, own, [...loose, value]);
    };
    return explains(0, 0, 0, [])
      ? -1
      : `operation ${op} read a list that is not the beginning of its key's, with its own appends so far`;
  }

  #cursorFault(external: ReadonlyMap<number, readonly External[]>): string | undefined {
    for (const [tx, reads] of external) {
      for (const { key, from } of reads) {
        const versions = this.#written.get(key) ?? [];
        const at = versions.indexOf(tx);
        if (at < 0) continue;
        if ((at === 0 ? -1 : versions[at - 1]) !== from)
          return `transaction ${tx} lost an update of key ${key}`;
      }
    }
    return undefined;
  }

  #isLater(writer: number, than: number): boolean {
    return than < 0 || this.#place[writer]! > this.#place[than]!;
  }

  #writes(tx: number, key: number): boolean {
    let found = false;
    this.#eachWrite(tx, (op) => {
      found ||= this.history.opKey[op] === key;
    });
    return found;
  }

  /** Sees what earlier reads read from and, besides, `also` and perhaps its session. */
  #sightFault(
    external: ReadonlyMap<number, readonly External[]>,
    also: (tx: number) => readonly number[],
    sessions = false,
  ): string | undefined {
    const lastOfSession = new Map<string, number>();
    for (const tx of this.order) {
      const seen = new Set(also(tx));
      for (const { key, from } of external.get(tx)!) {
        const before = sessions ? lastOfSession.get(`${this.history.txSession[tx]}/${key}`) : undefined;
        const missed = [...seen, ...(before === undefined ? [] : [before])].find(
          (writer) =>
            writer >= 0 && writer !== from && this.#writes(writer, key) && this.#isLater(writer, from),
        );
        if (missed !== undefined)
          return `transaction ${tx} saw ${missed} and yet read key ${key} from ${from}`;
        seen.add(from);
      }
      this.#eachWrite(tx, (op) => {
        lastOfSession.set(`${this.history.txSession[tx]}/${this.history.opKey[op]}`, tx);
      });
    }
    return undefined;
  }

  /** Per transaction how many of each session lead to it; per key and session who wrote the key, in their order. */
  #causalFault(external: ReadonlyMap<number, readonly External[]>): string | undefined {
    const { txSession, sessionNames } = this.history;
    const counts = new Int32Array(sessionNames.length);
    const number = new Int32Array(this.history.txCount);
    const clocks = new Map<number, Int32Array>();
    const last = new Map<number, number>();
    const writers = new Map<number, Map<number, number[]>>();
    for (const tx of this.order) {
      const session = txSession[tx]!;
      const clock = clocks.get(last.get(session) ?? -1)?.slice() ?? new Int32Array(counts.length);
      for (const { from } of external.get(tx)!) {
        clocks.get(from)?.forEach((count, s) => {
          if (count > clock[s]!) clock[s] = count;
        });
      }
      for (const { key, from } of external.get(tx)!) {
        for (const [s, list] of writers.get(key) ?? []) {
          const seen = list.findLast((writer) => number[writer]! <= clock[s]!);
          if (seen !== undefined && seen !== from && this.#isLater(seen, from))
            return `${seen} leads to transaction ${tx}, which yet read key ${key} from ${from}`;
        }
      }
      number[tx] = ++counts[session]!;
      clock[session] = number[tx]!;
      clocks.set(tx, clock);
      last.set(session, tx);
      this.#eachWrite(tx, (op) => {
        const ofKey = writers.get(this.history.opKey[op]!) ?? new Map<number, number[]>();
        writers.set(this.history.opKey[op]!, ofKey);
        if (ofKey.get(session)?.at(-1) !== tx) push(ofKey, session, tx);
      });
    }
    return undefined;
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
