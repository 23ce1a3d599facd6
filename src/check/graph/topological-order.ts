/**
 * A topological order that is kept while edges come and go (Pearce & Kelly, JEA 2006). An edge that agrees with the
 * order costs nothing. One that goes against it makes the points between its ends change places: those reached from
 * its target move behind those that reach its source. If the source is reached from the target, the edge would close
 * a cycle; the path is returned and nothing changes.
 *
 * Edges are removed last in, first out, and the order stays good for what is left.
 */
export class TopologicalOrder {
  /** Where each point is. */
  readonly place: Int32Array;
  /** Who is at each place. */
  readonly #at: Int32Array;
  #from: Int32Array;
  #to: Int32Array;
  #nextOut: Int32Array;
  #nextIn: Int32Array;
  #length = 0;
  readonly #firstOut: Int32Array;
  readonly #firstIn: Int32Array;
  readonly #mark: Int32Array;
  readonly #cameBy: Int32Array;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  #stamp = 0;

  /** `order` lists all points, first one first. */
  constructor(order: Int32Array, expectedEdges = 1024) {
    const count = order.length;
    this.#at = order.slice();
    this.place = new Int32Array(count);
    for (let i = 0; i < count; i++) this.place[order[i]!] = i;
    const size = Math.max(16, expectedEdges);
    this.#from = new Int32Array(size);
    this.#to = new Int32Array(size);
    this.#nextOut = new Int32Array(size);
    this.#nextIn = new Int32Array(size);
    this.#firstOut = new Int32Array(count).fill(-1);
    this.#firstIn = new Int32Array(count).fill(-1);
    this.#mark = new Int32Array(count);
    this.#cameBy = new Int32Array(count);
    this.#forward = new Int32Array(count);
    this.#backward = new Int32Array(count);
  }

  /** Edges so far; an edge's number is what this was when it came. */
  get length(): number {
    return this.#length;
  }

  source(edge: number): number {
    return this.#from[edge]!;
  }

  target(edge: number): number {
    return this.#to[edge]!;
  }

  /** The points, first one first. */
  order(): Int32Array {
    return this.#at.slice();
  }

  /** Adds an edge. If that would close a cycle it is not added: then the edges of the path back are returned. */
  add(from: number, to: number): number[] | undefined {
    if (from === to) return [];
    if (this.place[from]! > this.place[to]!) {
      const path = this.#reorder(from, to);
      if (path !== undefined) return path;
    }
    const edge = this.#length++;
    if (edge === this.#from.length) this.#grow();
    this.#from[edge] = from;
    this.#to[edge] = to;
    this.#nextOut[edge] = this.#firstOut[from]!;
    this.#firstOut[from] = edge;
    this.#nextIn[edge] = this.#firstIn[to]!;
    this.#firstIn[to] = edge;
    return undefined;
  }

  /** Takes back the edges from number `length` on. */
  truncate(length: number): void {
    while (this.#length > length) {
      const edge = --this.#length;
      this.#firstOut[this.#from[edge]!] = this.#nextOut[edge]!;
      this.#firstIn[this.#to[edge]!] = this.#nextIn[edge]!;
    }
  }

  /** Makes `from` come before `to`; the edges of a path from `to` to `from` if that cannot be. */
  #reorder(from: number, to: number): number[] | undefined {
    const { place } = this;
    const mark = this.#mark;
    const forward = this.#forward;
    const upper = place[from]!;
    const lower = place[to]!;
    const stamp = ++this.#stamp;
    // Breadth first, so that the cycle shown is a short one.
    let reached = 0;
    forward[reached++] = to;
    mark[to] = stamp;
    for (let i = 0; i < reached; i++) {
      const point = forward[i]!;
      for (let e = this.#firstOut[point]!; e >= 0; e = this.#nextOut[e]!) {
        const next = this.#to[e]!;
        if (place[next]! > upper || mark[next] === stamp) continue;
        mark[next] = stamp;
        this.#cameBy[next] = e;
        if (next === from) return this.#pathTo(to, from);
        forward[reached++] = next;
      }
    }
    const backward = this.#backward;
    let reaching = 0;
    backward[reaching++] = from;
    mark[from] = stamp;
    for (let i = 0; i < reaching; i++) {
      const point = backward[i]!;
      for (let e = this.#firstIn[point]!; e >= 0; e = this.#nextIn[e]!) {
        const next = this.#from[e]!;
        if (place[next]! < lower || mark[next] === stamp) continue;
        mark[next] = stamp;
        backward[reaching++] = next;
      }
    }
    this.#exchange(backward.subarray(0, reaching), forward.subarray(0, reached));
    return undefined;
  }

  #pathTo(start: number, end: number): number[] {
    const path: number[] = [];
    for (let point = end; point !== start; ) {
      const edge = this.#cameBy[point]!;
      path.push(edge);
      point = this.#from[edge]!;
    }
    return path.reverse();
  }

  /** Puts `first`, then `second`, in the places that both have now; each keeps its own order. */
  #exchange(first: Int32Array, second: Int32Array): void {
    const { place } = this;
    const byPlace = (a: number, b: number): number => place[a]! - place[b]!;
    first.sort(byPlace);
    second.sort(byPlace);
    const places = new Int32Array(first.length + second.length);
    for (let i = 0; i < first.length; i++) places[i] = place[first[i]!]!;
    for (let i = 0; i < second.length; i++) places[first.length + i] = place[second[i]!]!;
    places.sort();
    for (let i = 0; i < places.length; i++) {
      const point = i < first.length ? first[i]! : second[i - first.length]!;
      place[point] = places[i]!;
      this.#at[places[i]!] = point;
    }
  }

  #grow(): void {
    const size = this.#from.length * 2;
    const grow = (old: Int32Array): Int32Array => {
      const grown = new Int32Array(size);
      grown.set(old);
      return grown;
    };
    this.#from = grow(this.#from);
    this.#to = grow(this.#to);
    this.#nextOut = grow(this.#nextOut);
    this.#nextIn = grow(this.#nextIn);
  }
}
