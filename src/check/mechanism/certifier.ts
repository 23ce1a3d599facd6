/**
 * The serialization certifier: for contracts that promise serializability, the dependencies that the mirror is certain
 * of, and the cycles among them (Adya's DSG, `../cycles.ts`).
 *
 * - wr: a read that only one version explains, from its writer to the reader;
 * - ww: two versions of a row in certain order;
 * - rw: from the reader of a version to the writer of a later one, if the reader would have got something else from that; through a
 *   predicate, if the row the reader did not get would have satisfied its condition in the later version. Who reads columns that are not
 *   changed may come before the writer or after it (InnoDB then locks no more than an index).
 *
 * Only committed transactions whose own contract has a certifier take part. Edges of a version are added when it leaves
 * the mirror, for only then are its readers all known.
 */

import type { Contract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import { type Image, isVague, type Satisfies, type ScanPlan, sameCell, type Tx } from '../../rows/index.js';
import { explainCycle } from '../explain.js';
import { ofOperation, ofRow, type Phrase, type Piece, phrase } from '../explanation.js';
import type { CycleEdge, Finding } from '../finding.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph, EdgeList, edgeNames, predicateRw, rw, wr, ww } from '../graph/graph.js';
import { cycleRulesOut, nameCycle } from '../graph/name-cycle.js';
import { describeTx, ofTx, operationAt, textOf } from './prose.js';
import type { Tally } from './result.js';
import { imagesOf, type RowChain, type Version } from './row-chain.js';
import { type Expectation, explainingVersions, type ScanRead } from './scan-read.js';

interface EdgeNote {
  readonly object: string;
  readonly from: number;
  readonly to: number;
}

interface Reader {
  readonly tx: Tx;
  readonly operation: number;
  /** The condition the row did not satisfy; undefined: the row was in the result. */
  readonly where: Satisfies | undefined;
  readonly plan: ScanPlan;
}

export class Certifier {
  readonly #numbers = new Map<Tx, number>();
  readonly #txs: Tx[] = [];
  readonly #edges: { from: number; to: number; kind: number; ref: number }[] = [];
  readonly #notes: EdgeNote[] = [];
  readonly #readers = new Map<Version, Reader[]>();

  constructor(private readonly tally: Tally) {}

  /** Takes in a read that was judged without a problem. */
  observe(read: ScanRead, expectations: readonly Expectation[], keyed: boolean): void {
    if (!isCertified(read.tx) || read.view.dirty) return;
    const lines = new Map(read.lines.map((line) => [line.key, line]));
    for (const expectation of expectations) {
      const { outlook } = expectation;
      if (outlook.own || expectation.open) continue;
      if (!keyed && outlook.versions.length > 1) continue;
      const line = keyed ? lines.get(outlook.row.key) : undefined;
      const explaining = keyed ? explainingVersions(expectation, read.plan.where, line) : outlook.versions;
      if (explaining.length !== 1 || !explaining[0]!.certain) continue;
      const version = explaining[0]!;
      const returned = keyed ? line !== undefined : expectation.inside.length > 0 && !expectation.mayBeOut;
      if (!keyed && !returned && expectation.mayBeIn) continue;
      const operation = read.operation.index;
      if (version.tx !== undefined && returned) {
        const written = version.states.at(-1)!.operation;
        this.#add(version.tx, read.tx, wr, { object: outlook.row.object, from: written, to: operation });
      }
      const readers = this.#readers.get(version) ?? [];
      readers.push({
        tx: read.tx,
        operation,
        where: returned ? undefined : read.plan.where,
        plan: read.plan,
      });
      this.#readers.set(version, readers);
    }
  }

  /** A version leaves the mirror; `next` certainly follows it. */
  drop(row: RowChain, version: Version, next: Version): void {
    this.#follow(row, version, next);
    this.#readers.delete(version);
  }

  #follow(row: RowChain, version: Version, next: Version): void {
    if (next.tx === undefined || !next.certain) return;
    const written = next.states.at(-1)!.operation;
    const { object } = row;
    if (version.tx !== undefined && version.certain)
      this.#add(version.tx, next.tx, ww, { object, from: version.states.at(-1)!.operation, to: written });
    for (const { tx, operation, where, plan } of this.#readers.get(version) ?? []) {
      const images = imagesOf(next);
      const image = images[0]!;
      if (where === undefined) {
        if (showsChange(plan, imagesOf(version), images))
          this.#add(tx, next.tx, rw, { object, from: operation, to: written });
      } else {
        if (images.length === 1 && !isVague(image) && typeof image !== 'string' && where(image) === true)
          this.#add(tx, next.tx, predicateRw, { object, from: operation, to: written });
      }
    }
  }

  /** Takes in what is still in the mirror at the end. */
  finish(rows: Iterable<RowChain>, follows: (a: Version, b: Version) => boolean): void {
    for (const row of rows)
      for (const version of row.versions)
        for (const next of row.versions)
          if (next !== version && follows(version, next)) this.#follow(row, version, next);
  }

  #add(from: Tx, to: Tx, kind: number, note: EdgeNote): void {
    if (from === to || !isCertified(from) || !isCertified(to)) return;
    this.tally.dependencies++;
    const ref = this.#notes.length;
    this.#notes.push(note);
    this.#edges.push({ from: this.#number(from), to: this.#number(to), kind, ref });
  }

  #number(tx: Tx): number {
    let number = this.#numbers.get(tx);
    if (number === undefined) {
      number = this.#txs.length;
      this.#numbers.set(tx, number);
      this.#txs.push(tx);
    }
    return number;
  }

  findings(history: History): Finding[] {
    const edges = new EdgeList(this.#txs.length);
    // Objects, not notes, tell whether two edges go through one row.
    const objects = new Map<string, number>();
    const noteOf = new Map<string, EdgeNote>();
    for (const { from, to, kind, ref } of this.#edges) {
      const note = this.#notes[ref]!;
      const object = objects.get(note.object) ?? objects.size;
      objects.set(note.object, object);
      const key = `${from} ${to} ${kind} ${object}`;
      if (noteOf.has(key)) continue;
      noteOf.set(key, note);
      edges.add(from, to, kind, object);
    }
    const { cycles } = findCycles(buildGraph(edges));
    return strongestFirst(cycles).map((cycle) => this.#finding(history, cycle, noteOf));
  }

  #finding(history: History, cycle: FamilyCycle, noteOf: ReadonlyMap<string, EdgeNote>): Finding {
    const txs = cycle.nodes.map((node) => this.#txs[node]!);
    const operations = new Set<number>();
    const by = (index: number): Phrase =>
      index < 0 ? [] : phrase` with ${ofOperation(operationAt(history, index))}`;
    const cycleEdges = cycle.nodes.map((node, i): CycleEdge => {
      const next = (i + 1) % cycle.nodes.length;
      const note = noteOf.get(`${node} ${cycle.nodes[next]} ${cycle.kinds[i]} ${cycle.refs[i]}`)!;
      for (const index of [note.from, note.to]) if (index >= 0) operations.add(index);
      const kind = edgeNames[cycle.kinds[i]!]!;
      return {
        from: txs[i]!.id,
        to: txs[next]!.id,
        kind,
        object: note.object,
        fromOperation: note.from,
        toOperation: note.to,
        because: because(kind, [ofTx(txs[i]!), ofTx(txs[next]!)], note.object, [by(note.from), by(note.to)]),
      };
    });
    const contract: Contract = txs[0]!.contract!;
    const parts = {
      transactions: txs.map((tx) => describeTx(history, tx)),
      operations: [...operations]
        .sort((a, b) => a - b)
        .map((index) => operationAt(history, index))
        .map((operation) => ({
          index: operation.index,
          transaction: operation.transaction,
          text: `${textOf(operation)};`,
        })),
      cycle: cycleEdges,
    };
    return {
      kind: nameCycle(cycle),
      oracle: 'mechanism',
      certainty: 'proved',
      rulesOut: cycleRulesOut(cycle),
      contract: contract.id,
      clause: `certifier ${contract.mechanism!.certifier}`,
      ...parts,
      explanation: explainCycle(parts),
    };
  }
}

/** Whether a read certainly returns another line, or none, for the later version of a row. */
function showsChange(plan: ScanPlan, before: readonly Image[], after: readonly Image[]): boolean {
  if (before.length !== 1 || after.length !== 1) return false;
  const [old, image] = [before[0]!, after[0]!];
  if (image === 'absent') return true;
  if (typeof old === 'string' || typeof image === 'string') return false;
  if (plan.where(image) === false) return true;
  const line = plan.project(image);
  return plan.project(old).some((cell, i) => sameCell(cell, line[i]!) === false);
}

function isCertified(tx: Tx): boolean {
  return (
    tx.fate === 'committed' &&
    tx.unjudged === undefined &&
    tx.contract?.mechanism !== undefined &&
    tx.contract.mechanism.certifier !== 'none'
  );
}

/** One finding for each set of transactions: the same cycle is often of several families. */
function strongestFirst(cycles: readonly FamilyCycle[]): readonly FamilyCycle[] {
  const seen = new Set<string>();
  return cycles.filter(({ nodes }) => {
    const key = [...nodes].sort((a, b) => a - b).join();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function because(
  kind: string,
  [from, to]: readonly [Piece, Piece],
  object: string,
  [first, second]: readonly [from: Phrase, to: Phrase],
): Phrase {
  const row = ofRow(object);
  switch (kind) {
    case 'wr':
      return phrase`${to} read ${row}${second} as ${from} wrote it${first}`;
    case 'ww':
      return phrase`${to} overwrote${second} what ${from} had written to ${row}${first}`;
    case 'rw':
      return phrase`${from} read ${row}${first} before ${to} changed it${second}`;
    default:
      return phrase`${from} searched${first} and did not find ${row}, which ${to} then made to match${second}`;
  }
}
