/**
 * Strongly connected components by Tarjan's algorithm, without recursion: a history of a million transactions
 * makes paths of a million nodes. Only components that contain a cycle are returned.
 */
import type { Graph } from './graph.js';

type Adjacency = Pick<Graph, 'nodeCount' | 'offsets' | 'targets'>;

/**
 * Components with at least two nodes, looking only at edges whose kind is in `mask` and, when `nodes` is given,
 * only at those nodes. Nodes of a component are in ascending order.
 */
export function cyclicComponents(
  graph: Adjacency & { readonly kinds?: Uint8Array },
  mask = -1,
  nodes?: Int32Array,
): Int32Array[] {
  const { nodeCount, offsets, targets, kinds } = graph;
  const order = new Int32Array(nodeCount); // 0: not visited, or outside `nodes`
  const low = new Int32Array(nodeCount);
  const cursor = new Int32Array(nodeCount);
  const path = new Int32Array(nodeCount);
  const stack = new Int32Array(nodeCount);
  const state = new Uint8Array(nodeCount); // 1: may be visited, 2: on the stack
  if (nodes === undefined) state.fill(1);
  else for (const node of nodes) state[node] = 1;
  const found: Int32Array[] = [];
  let stackSize = 0;
  let clock = 0;
  const roots = nodes?.length ?? nodeCount;
  for (let i = 0; i < roots; i++) {
    const root = nodes === undefined ? i : nodes[i]!;
    if (order[root] !== 0) continue;
    let depth = 0;
    path[0] = root;
    order[root] = low[root] = ++clock;
    cursor[root] = offsets[root]!;
    stack[stackSize++] = root;
    state[root] = 2;
    while (depth >= 0) {
      const v = path[depth]!;
      const at = cursor[v]!;
      if (at < offsets[v + 1]!) {
        cursor[v] = at + 1;
        if (kinds !== undefined && ((mask >> kinds[at]!) & 1) === 0) continue;
        const w = targets[at]!;
        if (order[w] === 0) {
          if (state[w] !== 1) continue;
          order[w] = low[w] = ++clock;
          cursor[w] = offsets[w]!;
          stack[stackSize++] = w;
          state[w] = 2;
          path[++depth] = w;
        } else if (state[w] === 2 && order[w]! < low[v]!) {
          low[v] = order[w]!;
        }
        continue;
      }
      if (low[v] === order[v]) {
        let from = stackSize;
        do {
          from--;
          state[stack[from]!] = 0;
        } while (stack[from] !== v);
        if (stackSize - from > 1) found.push(stack.slice(from, stackSize).sort());
        stackSize = from;
      }
      depth--;
      if (depth >= 0) {
        const parent = path[depth]!;
        if (low[v]! < low[parent]!) low[parent] = low[v]!;
      }
    }
  }
  return found;
}
