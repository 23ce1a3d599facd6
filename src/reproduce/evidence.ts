/**
 * What the raw run shows about the order of its steps: the accesses of every step, the version chain of every row, the
 * versions each read asks for, and the orders that locks already prove. `mirror.ts` collects it, `constraints.ts` turns
 * it into edges, `invariants.ts` checks a schedule against it.
 */
import type { OrderStepId, RowId } from '../ids.js';
import { type Image, isHit, type Satisfies, sameCell, VersionChain } from '../rows/index.js';
import type { Evaluated, EvaluatedRow } from '../sql/index.js';
import { onTable } from './conflicts.js';
import { groupBy, Ints } from './ints.js';
import type { Steps } from './steps.js';

/** Why one step stands before another. The numbers are what edges carry; `reasons.ts` makes sentences of them. */
export const because = {
  /** It was answered before the other was sent. */
  time: 0,
  /** It ended the transaction that held the lock the other needed. */
  lock: 1,
  /** It published the version the other's snapshot shows. */
  shows: 2,
  /** The other published a version that its snapshot does not show. */
  misses: 3,
  /** It published a version that the other's transaction could overwrite only with a snapshot that shows it. */
  firstUpdater: 4,
  /** The other failed because of it. */
  conflict: 5,
  /** It was answered first, where locks should have decided and did not. */
  answered: 6,
  /** A lock that may have been there (a scan that locks what it passes); given up if it fits nowhere. */
  scanLock: 7,
} as const;
export type Because = (typeof because)[keyof typeof because];

/** Whether an order is a guess that yields to others, or one that the raw run shows to have been waited for. */
export const softness = { none: 0, guess: 1, waited: 2 } as const;
export type Softness = (typeof softness)[keyof typeof softness];

/** Orders found between steps. Soft ones yield to the others. */
export class Edges {
  readonly from = new Ints(1024);
  readonly to = new Ints(1024);
  readonly why = new Ints(1024);
  /** The object it is about. */
  readonly object = new Ints(1024);
  readonly soft = new Ints(1024);

  add({ from, to, why, object }: Order, soft: boolean | Softness = false): void {
    this.from.push(from);
    this.to.push(to);
    this.why.push(why);
    this.object.push(object);
    this.soft.push(Number(soft));
  }
}

/** The committed versions of a row, oldest first, by the steps that published them; the row before them is `Objects.initial`. */
export class Chain extends VersionChain<number> {
  readonly #images: Image[] = [];
  readonly #places: number[] = [];
  readonly #renewed = new Set<number>();

  publish(step: OrderStepId, image: Image, place: number, renewed = false): void {
    if (renewed) this.#renewed.add(this.versions.length);
    this.versions.push(step);
    this.#images.push(image);
    this.#places.push(place);
  }

  /** Versions in the order in which they were written. */
  place(version: number): number {
    return this.#places[version]!;
  }

  /** Whether a version, by its position, is another row than the one before it: its transaction deleted that and put this one in. */
  isRenewed(version: number): boolean {
    return this.#renewed.has(version);
  }

  /** What a version holds, by its position. */
  image(version: number): Image {
    return this.#images[version]!;
  }
}

/** Rows that were there before all statements stand before what they write. */
const firstPlace = 2 ** 31;

/** Rows and tables that steps access, by number. */
export class Objects {
  readonly names: string[] = [];
  /** For a row the object of its table, for anything else −1. */
  readonly tableOf: number[] = [];
  readonly initial: Image[] = [];
  readonly chains: (Chain | undefined)[] = [];

  add(name: string, table: number, initial: Image = 'unknown'): RowId {
    this.names.push(name);
    this.tableOf.push(table);
    this.initial.push(initial);
    this.chains.push(undefined);
    return this.names.length - 1;
  }

  /** What a row holds in a version, by its position; −1: before all of them. */
  imageOf(row: RowId, version: number): Image {
    return version < 0 ? this.initial[row]! : this.chains[row]!.image(version);
  }

  /** What a snapshot shows of a row that is taken at a step and misses some COMMITs. */
  imageAt(row: RowId, snapshot: OrderStepId, unseen: ReadonlySet<number>, steps: Steps): Image {
    return this.imageOf(row, this.shownAt(row, snapshot, unseen, steps));
  }

  /** The steps that published newer versions of a row than such a snapshot shows. */
  newerThan(
    row: RowId,
    snapshot: OrderStepId,
    unseen: ReadonlySet<number>,
    steps: Steps,
  ): readonly OrderStepId[] {
    return this.chains[row]?.versions.slice(this.shownAt(row, snapshot, unseen, steps) + 1) ?? [];
  }

  /** What a row was after such a snapshot, oldest first. */
  imagesSince(
    row: RowId,
    snapshot: OrderStepId,
    unseen: ReadonlySet<number>,
    steps: Steps,
  ): readonly Image[] {
    const shown = this.shownAt(row, snapshot, unseen, steps);
    return this.newerThan(row, snapshot, unseen, steps).map((_, i) => this.imageOf(row, shown + 1 + i));
  }

  /** Whether a row was deleted after such a snapshot. */
  goneSince(row: RowId, snapshot: OrderStepId, unseen: ReadonlySet<number>, steps: Steps): boolean {
    const versions = this.chains[row]?.versions.length ?? 0;
    for (let at = this.shownAt(row, snapshot, unseen, steps) + 1; at < versions; at++)
      if (this.endsAt(row, at)) return true;
    return false;
  }

  /** Whether the row that was there is gone with a version, by its position: deleted, even if another with its name was put in. */
  endsAt(row: RowId, version: number): boolean {
    return this.imageOf(row, version) === 'absent' || this.chains[row]?.isRenewed(version) === true;
  }

  /** The version such a snapshot shows; −1: the first one. */
  shownAt(row: RowId, snapshot: OrderStepId, unseen: ReadonlySet<number>, steps: Steps): number {
    return this.chains[row]?.shown(steps.end[snapshot]!, steps.spans, unseen) ?? -1;
  }

  /** Where a version of a row stands among all versions of its table, in the order in which they were written. */
  placeOf(row: RowId, version: number): number {
    return version < 0 ? row - firstPlace : this.chains[row]!.place(version);
  }

  /** COMMITs of other sessions that changed one of these rows and overlap the snapshot, in the order of their answers. */
  overlappingCommits(rows: readonly RowId[], snapshot: OrderStepId, steps: Steps): number[] {
    const { start, end, session } = steps;
    const found = new Set<number>();
    for (const row of rows) {
      const chain = this.chains[row];
      if (chain === undefined) continue;
      for (let i = chain.newestSettled(start[snapshot]!, steps.spans) + 1; i < chain.versions.length; i++) {
        const ending = chain.versions[i]!;
        if (session[ending] !== session[snapshot] && start[ending]! <= end[snapshot]!) found.add(ending);
      }
    }
    return [...found].sort((a, b) => end[a]! - end[b]!);
  }
}

/** What a read says about the version of a row that it saw. */
export type Expected =
  /** The row with these cells; a cell may be unknown, and then the condition may still say something of it. */
  | { readonly type: 'cells'; readonly cells: readonly Evaluated[]; readonly where?: Satisfies }
  /** No row that satisfies the condition. */
  | { readonly type: 'none'; readonly where: Satisfies | undefined }
  /** Some row that satisfies the condition. */
  | { readonly type: 'some'; readonly where: Satisfies | undefined }
  /** A row that satisfies the condition, and still did when its lock was free (`kept`); or none of these. */
  | { readonly type: 'chosen'; readonly kept: boolean; readonly where: Satisfies };

export interface Need {
  readonly step: OrderStepId;
  /** The step that fixed what it sees: itself, or an earlier one of its transaction. */
  readonly snapshot: OrderStepId;
  readonly row: RowId;
  readonly expected: Expected;
}

/** A read of a whole table: rows that are not in its result did not satisfy its condition. */
export interface Scan {
  readonly step: OrderStepId;
  readonly snapshot: OrderStepId;
  /** The table's object. */
  readonly table: number;
  readonly where: Satisfies | undefined;
  /** Rows of the result, which have needs of their own, and rows its own transaction had written. */
  readonly known: ReadonlySet<number>;
  /** It chose rows, then waited for some, and looked at them again: these are the ones it changed. */
  readonly kept?: ReadonlySet<number>;
}

/** A query that is evaluated on whole tables: a join, an aggregate, a subquery. */
export interface Query {
  readonly step: OrderStepId;
  readonly snapshot: OrderStepId;
  /** The objects of its tables. */
  readonly tables: readonly number[];
  /** Its result on tables with these rows, or why it cannot be known. */
  readonly run: (rowsOf: (table: number) => readonly EvaluatedRow[]) => readonly EvaluatedRow[] | string;
  readonly result: readonly EvaluatedRow[];
  /** What its own transaction had left in rows. */
  readonly own: ReadonlyMap<number, Image>;
}

/** Whether a version can be what a read saw; undefined: it cannot be known. */
export function explains(image: Image, expected: Expected): boolean | undefined {
  if (image === 'unknown' || expected.type === 'chosen') return undefined;
  if (expected.type === 'cells') {
    if (image === 'absent') return false;
    let sure: boolean | undefined = true;
    for (let i = 0; i < expected.cells.length; i++) {
      const same = sameCell(image[i] ?? null, expected.cells[i]!);
      if (same === false) return false;
      if (same === undefined) sure = undefined;
    }
    return expected.where?.(image) === false ? false : sure;
  }
  const present = isHit(image, expected.where ?? everyRow);
  if (present === undefined) return undefined;
  return expected.type === 'some' ? present : !present;
}

const everyRow: Satisfies = () => true;

/** The objects each step accesses, and in which roles (`conflicts.ts`). */
export interface Accesses {
  /** The accesses of step s stand at `first[s] … first[s + 1] - 1`. */
  readonly first: Int32Array;
  readonly object: Int32Array;
  readonly roles: Int32Array;
}

/** Collects accesses in any order. */
export class AccessList {
  readonly #step = new Ints(4096);
  readonly #object = new Ints(4096);
  readonly #roles = new Ints(4096);

  add(step: OrderStepId, object: RowId, roles: number): void {
    this.#step.push(step);
    this.#object.push(object);
    this.#roles.push(roles);
  }

  /**
   * Groups them by step; roles of one step on one object become one access. Where some statement concerns a whole
   * table, accesses to its rows are accesses to some row of the table too.
   */
  finish(steps: Steps, objects: Objects): Accesses {
    const whole = new Uint8Array(objects.names.length);
    const allObjects = this.#object.view();
    for (let i = 0; i < allObjects.length; i++)
      if (objects.tableOf[allObjects[i]!] === -1) whole[allObjects[i]!] = 1;
    const groups = groupBy(this.#step.view(), steps.count);
    const first = new Int32Array(steps.count + 1);
    const object = new Ints(allObjects.length + 16);
    const kept = new Ints(allObjects.length + 16);
    const merged = new Map<number, number>();
    for (let step = 0; step < steps.count; step++) {
      first[step] = object.length;
      const from = groups.first[step]!;
      const to = groups.first[step + 1]!;
      if (to - from === 1 && !whole[objects.tableOf[this.#object.at(groups.order[from]!)]!]) {
        object.push(this.#object.at(groups.order[from]!));
        kept.push(this.#roles.at(groups.order[from]!));
        continue;
      }
      merged.clear();
      for (let i = from; i < to; i++) {
        const at = groups.order[i]!;
        const row = this.#object.at(at);
        const role = this.#roles.at(at);
        merged.set(row, (merged.get(row) ?? 0) | role);
        const table = objects.tableOf[row]!;
        if (table >= 0 && whole[table]) merged.set(table, (merged.get(table) ?? 0) | onTable(role));
      }
      for (const [row, role] of merged) {
        object.push(row);
        kept.push(role);
      }
    }
    first[steps.count] = object.length;
    return { first, object: object.view(), roles: kept.view() };
  }
}

/** One order of two steps, with its reason. */
export interface Order {
  readonly from: number;
  readonly to: number;
  readonly why: Because;
  readonly object: RowId;
}

/**
 * Something that happened in one of several ways, each asking for other orders: a value that recurs, a failure with several
 * possible opponents. Alternatives that look likeliest come first.
 */
export interface Choice {
  readonly step: OrderStepId;
  readonly object: RowId;
  readonly what: 'version' | 'opponent' | 'turn';
  readonly alternatives: readonly (readonly Order[])[];
}

/**
 * Something that no recorded answer decides for certain: the moment at which a statement with a condition chose its rows, whose turn it was of those
 * who waited for one row, or the order of two overlapping statements whose locks cannot be known from outside.
 */
export interface Uncertain {
  readonly step: OrderStepId;
  readonly object: RowId;
  readonly what: 'moment' | 'turn' | 'order';
  readonly choices: number;
  readonly chosen: number;
}

/** A read or a lock that no version or order explains: the raw run broke its contract here, or we lack knowledge. */
export interface Unexplained {
  readonly step: OrderStepId;
  readonly object: RowId;
  readonly what: string;
}

export interface Evidence {
  readonly steps: Steps;
  readonly objects: Objects;
  readonly accesses: Accesses;
  readonly needs: readonly Need[];
  readonly scans: readonly Scan[];
  readonly queries: readonly Query[];
  readonly edges: Edges;
  readonly choices: Choice[];
  readonly unexplained: Unexplained[];
  readonly uncertain: Uncertain[];
  readonly tables: ReadonlySet<number>;
  /** Tables in which nobody can tell from outside who locks or watches what. */
  readonly unobservable: ReadonlySet<number>;
  /** Locks taken: step, object, exclusive or not; for the invariants. */
  readonly locks: { readonly step: Ints; readonly object: Ints; readonly exclusive: Ints };
  /** Steps sent although their lock is not free: the raw run shows that they waited. */
  readonly waits: Set<number>;
  /** Statements choose rows in a snapshot of their own, wait for them, and look at them again. */
  readonly looksAgain: boolean;
  /** Plain reads meet rows one after another, each as it is then: a statement need not see one state. */
  readonly readsByRow: boolean;
  /** Transactions are ordered by timestamps that their first steps got. */
  readonly stamped: boolean;
  /** For each transaction the step that fixed what it sees; −1: every statement does. */
  readonly snapshots: Int32Array;
  /** Statements that may have changed one of several sets of rows, and how many there are. */
  readonly severalRows: ReadonlyMap<OrderStepId, number>;
  /** Which of these sets was taken, if not the first. */
  readonly rowChoices: ReadonlyMap<OrderStepId, number>;
  /** Statements may have waited for rows that were deleted meanwhile. */
  readonly metGone: boolean;
  readonly notes: string[];
}
