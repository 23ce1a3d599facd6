/** The graph of dependencies between transactions, laid out by dagre. Pointing at an edge shows its operations in the lanes. */
import dagre from '@dagrejs/dagre';
import { useContext, useMemo } from 'preact/hooks';
import type { DependencyPicture } from '../src/studio/api.js';
import { FocusContext, isPointedAt, usePointing } from './focus.js';
import { sessionOf } from './parts.js';

const size = { width: 172, height: 46 };

interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (DependencyPicture['nodes'][number] & {
    readonly x: number;
    readonly y: number;
  })[];
  readonly edges: readonly (DependencyPicture['edges'][number] & {
    readonly path: string;
    readonly x: number;
    readonly y: number;
  })[];
}

function place({ nodes, edges }: DependencyPicture): Placed {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 50, ranksep: 64, edgesep: 24, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const drawn = nodes.filter(({ transaction }) => used.has(transaction));
  for (const { transaction } of drawn) graph.setNode(transaction, { ...size });
  edges.forEach(({ from, to, label }, i) => {
    graph.setEdge(
      from,
      to,
      { width: Math.min(150, label.length * 6.4), height: 16, labelpos: 'c' },
      String(i),
    );
  });
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: drawn.map((node) => ({ ...node, ...at(graph.node(node.transaction)) })),
    edges: edges.map((edge, i) => {
      const { points, x, y } = graph.edge({ v: edge.from, w: edge.to, name: String(i) });
      return { ...edge, path: smooth(points), x: x ?? 0, y: y ?? 0 };
    }),
  };
}

const at = ({ x, y }: { readonly x: number; readonly y: number }) => ({ x, y });

/** A curve through the middles between the points. */
function smooth(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = [`M${first.x},${first.y}`];
  rest.forEach((point, i) => {
    const next = rest[i + 1];
    if (next === undefined) parts.push(`L${point.x},${point.y}`);
    else parts.push(`Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`);
  });
  return parts.join(' ');
}

interface GraphProps {
  readonly picture: DependencyPicture;
  readonly sessions: readonly string[];
}

const meanings: Readonly<Record<string, string>> = {
  ww: 'both wrote, the first one first',
  wr: 'the second read what the first wrote',
  rw: 'the first read what the second overwrote',
  'predicate-rw': 'the first searched, the second changed what it would have found',
  session: 'one session ran both',
  'real-time': 'the first had ended before the second began',
  uses: 'the second saw or replaced what the first wrote',
};

export function Graph({ picture, sessions }: GraphProps) {
  const placed = useMemo(() => place(picture), [picture]);
  const kinds = [...new Set(picture.edges.map(({ kind }) => kind))];
  return (
    <>
      <div class="graph">
        <svg
          viewBox={`0 0 ${placed.width} ${placed.height}`}
          width={placed.width}
          height={placed.height}
          role="img"
          aria-label={describe(picture)}
        >
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 10 10"
              refX="9"
              refY="5"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M0 0L10 5L0 10z" />
            </marker>
          </defs>
          {placed.edges.map((edge, i) => (
            <Edge key={i} edge={edge} />
          ))}
          {placed.nodes.map((node) => (
            <Node key={node.transaction} node={node} sessions={sessions} />
          ))}
        </svg>
      </div>
      <dl class="legend quiet">
        {kinds.map((kind) => (
          <div key={kind}>
            <dt class={`edge-${kind}`}>{kind}</dt>
            <dd>{meanings[kind] ?? ''}</dd>
          </div>
        ))}
      </dl>
      {picture.proves && (
        <p class="quiet">
          Each arrow says which transaction must come first. Together they go in a circle: there is no such
          order.
        </p>
      )}
    </>
  );
}

function describe({ edges }: DependencyPicture): string {
  return `dependencies: ${edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`).join(', ')}`;
}

function Edge({ edge }: { readonly edge: Placed['edges'][number] }) {
  const { operations, kind, path, x, y, label } = edge;
  const pointing = usePointing({ operations });
  const holder = useContext(FocusContext);
  const lit = isPointedAt(holder, { operations }) ? ' lit' : '';
  return (
    <g class={`edge edge-${kind}${lit}`} {...pointing}>
      <title>{label}</title>
      <path class="catch" d={path} />
      <path class="line" d={path} marker-end="url(#arrow)" />
      <text x={x} y={y}>
        {label.length > 24 ? `${label.slice(0, 23)}…` : label}
      </text>
    </g>
  );
}

function Node({
  node,
  sessions,
}: {
  readonly node: Placed['nodes'][number];
  readonly sessions: readonly string[];
}) {
  const { transaction, x, y, fate, operations } = node;
  const what = { transaction, operations: operations.map(({ index }) => index) };
  const pointing = usePointing(what);
  const holder = useContext(FocusContext);
  const lit = isPointedAt(holder, what) ? ' lit' : '';
  return (
    <g
      class={`node s${sessionOf(transaction, sessions)}${lit}`}
      transform={`translate(${x - size.width / 2},${y - size.height / 2})`}
      {...pointing}
    >
      <title>{operations.map(({ index, text }) => `#${index} ${text}`).join('\n')}</title>
      <rect width={size.width} height={size.height} rx="8" />
      <text x={size.width / 2} y="20">
        {transaction.length > 16 ? `${transaction.slice(0, 15)}…` : transaction}
      </text>
      <text x={size.width / 2} y="36" class="small">
        {fate}, {operations.length} {operations.length === 1 ? 'operation' : 'operations'}
      </text>
    </g>
  );
}
