/**
 * A key-value history as the events Jepsen would have recorded: the way back from `jepsen-events.ts`.
 *
 * - Sessions become processes. After a transaction whose outcome is unknown its process is retired, as Jepsen
 *   does, and the session goes on under a new number.
 * - A transaction whose start is known is invoked and completed, otherwise only completed. That nobody knows its
 *   outcome is an event without a time, right after its invocation.
 * - Events are merged by time, because their order tells a checker what came before what. Where an invocation and
 *   a completion share a time the invocation comes first, so that nothing is claimed that was not recorded.
 */
import { type KvHistory, statusOf } from '../kv-history.js';
import type { EventType } from './edn-event.js';

export interface KvEvent {
  readonly type: EventType;
  readonly tx: number;
  readonly process: number;
  /** NaN where it was not recorded. */
  readonly time: number;
}

interface Queued extends KvEvent {
  /** Orders the merge; never falls within a session. */
  readonly key: number;
}

export function* kvEvents(history: KvHistory): Generator<KvEvent, void, undefined> {
  const queues = sessionTransactions(history).map((txs, session) => new SessionQueue(history, txs, session));
  const processes = new ProcessNumbers(history);
  const heap = new Heap();
  for (const queue of queues) heap.push(queue, queue.next(processes));
  for (;;) {
    const top = heap.pop();
    if (top === undefined) return;
    yield top.event;
    heap.push(top.queue, top.queue.next(processes));
  }
}

function sessionTransactions(history: KvHistory): number[][] {
  const sessions: number[][] = history.sessionNames.map(() => []);
  for (let tx = 0; tx < history.txCount; tx++) sessions[history.txSession[tx]!]!.push(tx);
  return sessions;
}

/** Numbers for processes: those that sessions have for names, and new ones. */
class ProcessNumbers {
  readonly #ofSession: number[];
  #next: number;

  constructor(history: KvHistory) {
    const own = history.sessionNames.map((name) =>
      typeof name === 'number' && Number.isSafeInteger(name) && name >= 0 && name < 2 ** 40
        ? name
        : undefined,
    );
    this.#next = own.reduce<number>((most, name) => Math.max(most, (name ?? -1) + 1), 0);
    this.#ofSession = own.map((name) => name ?? this.#next++);
  }

  of(session: number): number {
    return this.#ofSession[session]!;
  }

  retire(session: number): void {
    this.#ofSession[session] = this.#next++;
  }
}

/** The events of one session in program order. */
class SessionQueue {
  readonly #history: KvHistory;
  readonly #txs: readonly number[];
  readonly #session: number;
  #position = 0;
  #invoked = false;
  #key = Number.NEGATIVE_INFINITY;

  constructor(history: KvHistory, txs: readonly number[], session: number) {
    this.#history = history;
    this.#txs = txs;
    this.#session = session;
  }

  next(processes: ProcessNumbers): Queued | undefined {
    const tx = this.#txs[this.#position];
    if (tx === undefined) return undefined;
    const process = processes.of(this.#session);
    const status = statusOf(this.#history, tx);
    const start = this.#history.txStart?.[tx] ?? Number.NaN;
    const end = this.#history.txEnd?.[tx] ?? Number.NaN;
    if (!this.#invoked && !Number.isNaN(start)) {
      this.#invoked = true;
      return this.#queued('invoke', tx, process, start);
    }
    this.#done(processes, status === 'unknown');
    const type = status === 'committed' ? 'ok' : status === 'aborted' ? 'fail' : 'info';
    return this.#queued(type, tx, process, type === 'info' ? Number.NaN : end);
  }

  #done(processes: ProcessNumbers, retire: boolean): void {
    this.#position++;
    this.#invoked = false;
    if (retire) processes.retire(this.#session);
  }

  #queued(type: EventType, tx: number, process: number, time: number): Queued {
    if (time > this.#key) this.#key = time;
    return { type, tx, process, time, key: this.#key };
  }
}

/** A binary heap of sessions by their next event. */
class Heap {
  readonly #items: { readonly queue: SessionQueue; readonly event: Queued }[] = [];

  push(queue: SessionQueue, event: Queued | undefined): void {
    if (event === undefined) return;
    const items = this.#items;
    let at = items.push({ queue, event }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(items[at]!.event, items[parent]!.event)) return;
      [items[at], items[parent]] = [items[parent]!, items[at]!];
      at = parent;
    }
  }

  pop(): { readonly queue: SessionQueue; readonly event: Queued } | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    items[0] = last;
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < items.length && before(items[child]!.event, items[least]!.event)) least = child;
      }
      if (least === at) return top;
      [items[at], items[least]] = [items[least]!, items[at]!];
      at = least;
    }
  }
}

function before(a: Queued, b: Queued): boolean {
  if (a.key !== b.key) return a.key < b.key;
  const [aInvokes, bInvokes] = [a.type === 'invoke', b.type === 'invoke'];
  return aInvokes === bInvokes ? a.tx < b.tx : aInvokes;
}
