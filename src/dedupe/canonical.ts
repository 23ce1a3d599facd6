/**
 * One form for all descriptions of the same behaviour: transactions are named A, B, … so that neither session numbers nor
 * the names of tables and rows show.
 *
 * 1. Colour each transaction by its own events; refine by the colours it is ordered against, until nothing changes
 *    (Weisfeiler–Leman). Sort by colour.
 * 2. Transactions of one colour are nearly always interchangeable; where they are few, every order of them is written and
 *    the smallest text is taken, so that those that are not make no difference either.
 */
import type { CycleEdge } from '../check/index.js';
import { kindLine } from './act-kind.js';
import type { CaseEvent, CaseEvents } from './events.js';

export interface Pattern extends CaseEvents {
  /** Statements, by `session,position`, that the finding is about. */
  readonly judged: ReadonlySet<string>;
  /** The dependency cycle over the transactions' numbers; −1 for one that is not of the case. */
  readonly cycle: readonly (Pick<CycleEdge, 'kind' | 'object'> & {
    readonly from: number;
    readonly to: number;
  })[];
}

const mostOrders = 720;

/** The canonical form, line by line. */
export function canonicalLines(pattern: Pattern): string[] {
  const before = nearest(pattern);
  const classes = colourClasses({ ...pattern, before });
  let best: string[] | undefined;
  for (const order of ordersOf(classes)) {
    const lines = linesIn({ ...pattern, before }, order);
    if (best === undefined || lines.join('\n') < best.join('\n')) best = lines;
  }
  return best ?? [];
}

function linesIn(pattern: Pattern, order: readonly number[]): string[] {
  const letter = new Map(order.map((transaction, i) => [transaction, letterOf(i)]));
  const tables = new Map<string, string>();
  const lines = order.map((transaction) => {
    const events = pattern.transactions[transaction]!.map((event) => {
      const named = event.tables.map((table) => nameIn(tables, table, 't'));
      return `${kindLine(event)}${named.length === 0 ? '' : ` ${named.join('+')}`}${pattern.judged.has(event.ref) ? '!' : ''}`;
    });
    return `${letter.get(transaction)}: ${events.join('; ')}`;
  });
  const name = (event: CaseEvent) => `${letter.get(event.transaction)}${event.position + 1}`;
  const pairs = pattern.before.map(([a, b]) => `${name(a)}<${name(b)}`).sort();
  if (pairs.length > 0) lines.push(`order: ${pairs.join(' ')}`);
  const cycle = cycleText(pattern.cycle, letter);
  return cycle === undefined ? lines : [...lines, `cycle: ${cycle}`];
}

/** The cycle from the start that gives the smallest text; rows are numbered as they come. */
function cycleText(cycle: Pattern['cycle'], letter: ReadonlyMap<number, string>): string | undefined {
  const turns = cycle.map((_, start) => {
    const rows = new Map<string, string>();
    return [...cycle.slice(start), ...cycle.slice(0, start)]
      .map(({ from, to, kind, object }) => {
        const row = object === undefined ? '' : ` ${nameIn(rows, object, 'r')}`;
        return `${letter.get(from) ?? '?'} ${kind}${row} ${letter.get(to) ?? '?'}`;
      })
      .join(', ');
  });
  return turns.sort()[0];
}

function nameIn(names: Map<string, string>, thing: string, prefix: string): string {
  const known = names.get(thing) ?? `${prefix}${names.size + 1}`;
  names.set(thing, known);
  return known;
}

const letterOf = (i: number): string => (i < 26 ? String.fromCharCode(65 + i) : `T${i + 1}`);

/** Only the orders that do not follow from others. */
function nearest(pattern: CaseEvents): CaseEvents['before'] {
  if (pattern.before.length === 0) return [];
  const events = pattern.transactions.flat();
  const number = new Map(events.map((event, i) => [event, i]));
  const reach = events.map(() => new Uint8Array(events.length));
  for (const [a, b] of pattern.before) reach[number.get(a)!]![number.get(b)!] = 1;
  for (const transaction of pattern.transactions) {
    transaction.forEach((event, i) => {
      for (const later of transaction.slice(i + 1)) reach[number.get(event)!]![number.get(later)!] = 1;
    });
  }
  for (let k = 0; k < events.length; k++)
    for (const row of reach)
      if (row[k] === 1) for (let j = 0; j < events.length; j++) row[j]! |= reach[k]![j]!;
  return pattern.before.filter(([a, b]) => {
    const [from, to] = [number.get(a)!, number.get(b)!];
    return !events.some((_, k) => reach[from]![k] === 1 && reach[k]![to] === 1);
  });
}

/** Transactions with equal colours, classes in the order of their colours. */
function colourClasses(pattern: Pattern): number[][] {
  let colours = pattern.transactions.map((events) => {
    const tables = new Map<string, string>();
    return events
      .map((event) => {
        const named = event.tables.map((table) => nameIn(tables, table, 't'));
        return [kindLine(event), named, pattern.judged.has(event.ref)].join(' ');
      })
      .join(';');
  });
  for (let round = 0; round < pattern.transactions.length; round++) {
    const around: string[][] = colours.map(() => []);
    for (const [a, b] of pattern.before) {
      around[a.transaction]!.push(`${a.position}<${b.position} ${colours[b.transaction]}`);
      around[b.transaction]!.push(`${b.position}>${a.position} ${colours[a.transaction]}`);
    }
    for (const { from, to, kind } of pattern.cycle) {
      around[from]?.push(`${kind} to ${colours[to] ?? '?'}`);
      around[to]?.push(`${kind} from ${colours[from] ?? '?'}`);
    }
    // Ranks instead of texts: what is compared stays short from round to round.
    const texts = colours.map((colour, i) => `${colour}|${around[i]!.sort().join('|')}`);
    const ranks = [...new Set(texts)].sort();
    const next = texts.map((text) => String(ranks.indexOf(text)).padStart(6, '0'));
    if (round > 0 && new Set(next).size === new Set(colours).size) break;
    colours = next;
  }
  const classes = new Map<string, number[]>();
  colours.forEach((colour, i) => {
    classes.set(colour, [...(classes.get(colour) ?? []), i]);
  });
  return [...classes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => members);
}

/** Every order of the classes' members inside their classes; only the given one when there are too many. */
function ordersOf(classes: readonly (readonly number[])[]): number[][] {
  const count = classes.reduce((product, { length }) => product * factorial(length), 1);
  if (count > mostOrders) return [classes.flat()];
  return classes.reduce<number[][]>(
    (orders, members) => orders.flatMap((order) => permutations(members).map((more) => [...order, ...more])),
    [[]],
  );
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n > 10 ? Number.POSITIVE_INFINITY : n * factorial(n - 1);
}

function permutations(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) =>
    permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]),
  );
}
