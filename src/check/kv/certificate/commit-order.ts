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
  readonly #full = new Map<number, number[]>();

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
        if (history.opKind[op] === kvAppend) push(this.#full, key, history.opValue[op]!);
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
        const wrong = this.#listFault(tx, op, mine);
        if (wrong !== undefined) return wrong;
        const last = [...listOf(this.history, op)].filter((element) => !mine.includes(element)).at(-1);
        const from = last === undefined ? -1 : this.#source(tx, op, last);
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

  /** A list holds its reader's own appends in their order, nothing twice, nothing unwritten, and begins the key's list. */
  #listFault(tx: number, op: number, mine: readonly number[]): string | undefined {
    const key = this.history.opKey[op]!;
    const list = [...listOf(this.history, op)];
    const full = this.#full.get(key) ?? [];
    let own = 0;
    for (const value of list) if (value === mine[own]) own++;
    if (own < mine.length) return `operation ${op} misses its own append`;
    if (new Set(list).size < list.length) return `operation ${op} read an element twice`;
    const writers = (value: number): number[] => this.#writers.get(`${key}/${value}`) ?? [];
    for (const value of list) {
      if (!writers(value).some((write) => this.#txOf(write) !== tx || write < op))
        return `nobody wrote an element of operation ${op}`;
    }
    // What aborted, or may have, has no version.
    const installed = list.filter((value) =>
      writers(value).some((write) => this.#place[this.#txOf(write)]! >= 0),
    );
    const begins = installed.every((value, i) => value === full[i]);
    return begins ? undefined : `operation ${op} read a list that is not the beginning of its key's`;
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
