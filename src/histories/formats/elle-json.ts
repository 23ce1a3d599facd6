/** Elle's JSON: Jepsen's events with strings for keywords, as a list or one per line. */
import { showFound } from '../../json.js';
import { KvBuilder } from '../kv-builder.js';
import type { KvName } from '../kv-history.js';
import { PlainMap, type PlainValue } from '../plain-operations.js';
import { ByteWindow } from './byte-window.js';
import { type EventType, eventTypes } from './edn-event.js';
import type { FormatInput, Imported } from './format.js';
import { JepsenEvents } from './jepsen-events.js';
import { JsonElements } from './json-elements.js';
import { JsonEventScanner } from './json-event.js';
import { MicroOps } from './micro-ops.js';

export async function readElleJson(input: FormatInput): Promise<Imported> {
  const builder = new KvBuilder({ definitions: 'adya' });
  const events = new JepsenEvents(builder);
  const window = new ByteWindow(input.shown, input.bytes());
  const elements = new JsonElements(window);
  const ops = new MicroOps();
  const take = (element: unknown, offset: number): void =>
    takeEvent(element, offset, { window, events, ops });
  const quick = quickEvents(events, ops);
  await window.readAll(() => elements.run(take, quick));
  elements.finish();
  return events.finish();
}

/** Reads events of the usual shape; the place after one, or -1. */
function quickEvents(
  events: JepsenEvents,
  ops: MicroOps,
): (bytes: Buffer, at: number, end: number) => number {
  const scanner = new JsonEventScanner();
  const rereader = new JsonEventScanner();
  const invokedOps = new MicroOps();
  return (bytes, at, end) => {
    const next = scanner.scan(bytes, at, end, ops);
    if (next < 0) return -1;
    const head = scanner.head();
    if (head.type === 'invoke') {
      // Most invocations are never looked at again, so they are kept as bytes and not as operations.
      const invoked = Buffer.from(bytes.subarray(scanner.valueFrom, scanner.valueTo));
      events.invoke(head, () => {
        rereader.readOps(invoked, invokedOps);
        return invokedOps;
      });
    } else events.complete(head, ops);
    return next;
  };
}

interface Sink {
  readonly window: ByteWindow;
  readonly events: JepsenEvents;
  readonly ops: MicroOps;
}

function takeEvent(element: unknown, offset: number, { window, events, ops }: Sink): void {
  const event = element as Readonly<Record<string, unknown>>;
  const { process = null, value = null, f = null } = event;
  // The nemesis and other helpers have names for processes; they run no transactions.
  if (typeof process === 'string') return;
  const type = typeof event.type === 'string' ? event.type.replace(/^:/, '') : event.type;
  if (!eventTypes.includes(type as EventType)) {
    window.fail(offset, `expected invoke, ok, fail or info, found ${showFound(event.type)}`, 'type');
  }
  const number = (name: string): number => {
    const found = event[name] ?? null;
    if (found === null) return Number.NaN;
    if (typeof found === 'number') return found;
    return window.fail(offset, `expected a number, found ${showFound(found)}`, name);
  };
  const head = {
    type: type as EventType,
    process: number('process'),
    time: number('time'),
    index: number('index'),
  };
  if (process !== null && !(Number.isInteger(head.process) && head.process >= 0)) {
    window.fail(offset, `expected a whole number from 0 on, found ${showFound(process)}`, 'process');
  }
  const hasOps = Array.isArray(value) || type === 'ok' || type === 'invoke';
  ops.clear();
  const problem = events.take({
    head,
    f: f === null ? undefined : String(f).replace(/^:/, ''),
    value: () => plainOf(value),
    problem: hasOps ? jsonMicroOps(value, ops) : undefined,
    ops: hasOps ? ops : undefined,
  });
  if (problem !== undefined) window.fail(offset, problem, 'value');
}

/** A value of an operation that is no transaction. */
function plainOf(value: unknown): PlainValue {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(plainOf);
  if (typeof value === 'object' && value !== null) {
    return new PlainMap(Object.entries(value).map(([key, item]) => [key, plainOf(item)] as const));
  }
  return value as PlainValue;
}

function jsonMicroOps(value: unknown, ops: MicroOps): string | undefined {
  if (!Array.isArray(value))
    return `expected a list of operations such as [["r", 1, null]], found ${showFound(value)}`;
  for (const micro of value as readonly unknown[]) {
    const [f, key, operand = null] = Array.isArray(micro) ? (micro as readonly unknown[]) : [];
    if (f === undefined || key === undefined)
      return `expected an operation such as ["r", 1, null], found ${showFound(micro)}`;
    const name = jsonName(key);
    if (f === 'r' || f === ':r') {
      if (Array.isArray(operand)) ops.read(name, (operand as readonly unknown[]).map(jsonName));
      else ops.read(name, operand === null ? null : jsonName(operand));
    } else if (f === 'append' || f === ':append') ops.append(name, jsonName(operand));
    else if (f === 'w' || f === ':w') ops.write(name, operand === null ? null : jsonName(operand));
    else return `expected the operation "r", "w" or "append", found ${showFound(f)}`;
  }
  return undefined;
}

/** How a key or value is called: numbers and texts are themselves, all else is its JSON. */
export function jsonName(value: unknown): KvName {
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value);
}
