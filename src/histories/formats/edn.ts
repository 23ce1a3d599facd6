/**
 * Jepsen's EDN: one map per event, on lines of their own or in one vector. Nearly all events take the fast way of
 * `edn-event.ts`; the others are read in full by `edn-reader.ts`, and only those can be complained about.
 */
import { KvBuilder } from '../kv-builder.js';
import { PlainMap, type PlainValue } from '../plain-operations.js';
import { ByteWindow } from './byte-window.js';
import { EventScanner, type EventType, eventTypes } from './edn-event.js';
import {
  type Edn,
  EdnAtom,
  EdnEnd,
  EdnMap,
  EdnProblem,
  EdnReader,
  EdnSet,
  nameOf,
  printEdn,
} from './edn-reader.js';
import type { EventHead } from './event-head.js';
import type { FormatInput, Imported } from './format.js';
import { JepsenEvents } from './jepsen-events.js';
import { MicroOps } from './micro-ops.js';

export async function readEdn(input: FormatInput): Promise<Imported> {
  const builder = new KvBuilder({ definitions: 'adya' });
  const window = new ByteWindow(input.shown, input.bytes());
  const parser = new EventParser(window, new JepsenEvents(builder));
  await window.readAll(() => parser.run());
  return parser.finish();
}

class EventParser {
  readonly #window: ByteWindow;
  readonly #events: JepsenEvents;
  readonly #scanner = new EventScanner();
  readonly #ops = new MicroOps();
  readonly #invocations = new Map<number, KeptInvocation>();
  /** Inside the one vector that may surround all events. */
  #vector: 'none' | 'open' | 'closed' = 'none';
  #seen = false;

  constructor(window: ByteWindow, events: JepsenEvents) {
    this.#window = window;
    this.#events = events;
  }

  /** Takes every whole event of the window. */
  run(): void {
    this.#takeEvents();
    // The window moves on, and with it what open invocations were read from.
    for (const [process, kept] of this.#invocations) if (this.#events.isOpen(process)) kept.copy();
  }

  #takeEvents(): void {
    const window: ByteWindow = this.#window;
    while (window.at < window.end) {
      const { bytes, at, end } = window;
      if (bytes[at] === 10 || bytes[at] === 32 || bytes[at] === 44) {
        window.at++;
        continue;
      }
      const next = this.#scanner.scan(bytes, at, end, this.#ops);
      if (next >= 0 && this.#vector !== 'closed' && this.#fastEvent()) {
        this.#seen = true;
        window.at = next;
      } else if (!this.#slowForm()) return;
    }
  }

  finish(): Imported {
    const window: ByteWindow = this.#window;
    if (this.#vector === 'open') window.fail(window.end, 'the file ends inside its list of events');
    if (!this.#seen && this.#vector === 'none')
      window.fail(0, 'expected events such as {:type :ok, :f :txn, …}; found none');
    return this.#events.finish();
  }

  #fastEvent(): boolean {
    const { event } = this.#scanner;
    const { type, valueFrom, valueTo } = event;
    if (type === undefined || Number.isNaN(event.process) || event.process < 0 || valueFrom < 0) return false;
    const head = event as EventHead;
    if (type === 'invoke') this.#events.invoke(head, this.#kept(event.process, valueFrom, valueTo));
    else this.#events.complete(head, this.#ops);
    return true;
  }

  /**
   * Most invocations are never looked at again, so what is kept of them is their place in the window and not their operations: of
   * each process the last one, for no process has two open.
   */
  #kept(process: number, from: number, to: number): () => MicroOps {
    let kept = this.#invocations.get(process);
    if (kept === undefined || this.#events.isOpen(process)) {
      kept = new KeptInvocation();
      this.#invocations.set(process, kept);
    }
    kept.keep(this.#window.bytes, from, to);
    return kept.ops;
  }

  /** Reads one form in full; false when it goes on past the window. */
  #slowForm(): boolean {
    const window: ByteWindow = this.#window;
    const reader = new EdnReader(window.bytes, window.at, window.end);
    try {
      const byte = reader.skip();
      if (byte === -1) {
        if (window.ended) window.at = window.end;
        return window.ended;
      }
      if (byte === 91 && this.#vector === 'none' && !this.#seen) {
        this.#vector = 'open';
        reader.at++;
      } else if (byte === 93 && this.#vector === 'open') {
        this.#vector = 'closed';
        reader.at++;
      } else if (this.#vector === 'closed') {
        window.fail(reader.at, 'nothing may follow the list of events');
      } else {
        const start = reader.at;
        this.#event(reader.read(), start);
        this.#seen = true;
      }
      window.at = reader.at;
      return true;
    } catch (thrown) {
      if (thrown instanceof EdnProblem) window.fail(thrown.offset, thrown.message);
      if (!(thrown instanceof EdnEnd)) throw thrown;
      if (window.ended) window.fail(window.at, 'the file ends inside the event that begins here');
      return false;
    }
  }

  #event(form: Edn, offset: number): void {
    const window: ByteWindow = this.#window;
    if (!(form instanceof EdnMap)) {
      window.fail(offset, `expected an event such as {:type :ok, …}, found ${short(form)}`);
    }
    const fields = new Map(form.entries.map(([key, value]) => [fieldName(key), value]));
    const type = fieldName(fields.get('type') ?? null);
    const processField = fields.get('process');
    // The nemesis and other helpers have names for processes; they run no transactions.
    if (processField instanceof EdnAtom || typeof processField === 'string') return;
    if (!eventTypes.includes(type as EventType)) {
      const found = fields.has('type') ? short(fields.get('type')!) : 'nothing';
      window.fail(offset, `expected :invoke, :ok, :fail or :info, found ${found}`, ':type');
    }
    const number = (name: string): number => {
      const value = fields.get(name) ?? null;
      if (value === null) return Number.NaN;
      if (typeof value === 'number') return value;
      return window.fail(offset, `expected a number, found ${short(value)}`, `:${name}`);
    };
    const head = {
      type: type as EventType,
      process: number('process'),
      time: number('time'),
      index: number('index'),
    };
    if (!Number.isNaN(head.process) && (!Number.isInteger(head.process) || head.process < 0)) {
      window.fail(offset, `expected a whole number from 0 on, found ${head.process}`, ':process');
    }
    const value = fields.get('value') ?? null;
    // A transaction that failed or was lost may come back with an error in place of its operations.
    const hasOps = Array.isArray(value) || type === 'ok' || type === 'invoke';
    this.#ops.clear();
    const problem = this.#events.take({
      head,
      f: fieldName(fields.get('f') ?? null),
      value: () => plainOf(value),
      problem: hasOps ? microOps(value, this.#ops) : undefined,
      ops: hasOps ? this.#ops : undefined,
    });
    if (problem !== undefined) window.fail(offset, problem, ':value');
  }
}

/** The operations of an invocation, read when they are asked for. */
class KeptInvocation {
  /** Where they stand: in the window, or in a copy of our own. */
  #bytes: Buffer = Buffer.alloc(0);
  #from = 0;
  #to = 0;
  #copy: Buffer = Buffer.alloc(0);

  keep(bytes: Buffer, from: number, to: number): void {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
  }

  /** Makes them independent of the window. */
  copy(): void {
    if (this.#bytes === this.#copy) return;
    const length = this.#to - this.#from;
    if (length > this.#copy.length) this.#copy = Buffer.allocUnsafeSlow(length * 2);
    this.#bytes.copy(this.#copy, 0, this.#from, this.#to);
    this.keep(this.#copy, 0, length);
  }

  readonly ops = (): MicroOps => {
    const ops = new MicroOps();
    new EventScanner().readOps(this.#bytes.subarray(this.#from, this.#to), ops);
    return ops;
  };
}

/** A value of an operation that is no transaction. */
function plainOf(value: Edn): PlainValue {
  if (value instanceof EdnMap) {
    return new PlainMap(value.entries.map(([key, item]) => [plainOf(key), plainOf(item)] as const));
  }
  if (value instanceof EdnSet) return value.items.map(plainOf);
  if (Array.isArray(value)) return (value as readonly Edn[]).map(plainOf);
  return value instanceof EdnAtom ? value.text : (value as PlainValue);
}

/** Takes micro-operations into `ops`; what is wrong with them, if anything. */
export function microOps(value: Edn, ops: MicroOps): string | undefined {
  if (!Array.isArray(value))
    return `expected a list of operations such as [[:r 1 nil] [:append 2 3]], found ${short(value)}`;
  for (const micro of value as readonly Edn[]) {
    const [f, key, operand = null] = Array.isArray(micro) ? (micro as readonly Edn[]) : [];
    const name = f === undefined ? undefined : fieldName(f);
    if (name === undefined || key === undefined)
      return `expected an operation such as [:r 1 nil], found ${short(micro)}`;
    if (name === 'r') {
      if (Array.isArray(operand)) ops.read(nameOf(key), (operand as readonly Edn[]).map(nameOf));
      else ops.read(nameOf(key), operand === null ? null : nameOf(operand));
    } else if (name === 'append') ops.append(nameOf(key), nameOf(operand));
    else if (name === 'w') ops.write(nameOf(key), operand === null ? null : nameOf(operand));
    else return `expected the operation :r, :w or :append, found ${short(f!)}`;
  }
  return undefined;
}

function fieldName(value: Edn): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof EdnAtom ? value.text.replace(/^:/, '') : undefined;
}

export function short(value: Edn): string {
  const text = printEdn(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
