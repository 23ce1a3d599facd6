/** A finding's cycle as Graphviz DOT. Names and values come from files, so every label is escaped. */
import { edgeLabel } from './explain.js';
import type { Finding } from './finding.js';

const edgeColors: Readonly<Record<string, string>> = {
  ww: '#c0392b',
  wr: '#2471a3',
  rw: '#b9770e',
  'predicate-rw': '#b9770e',
  session: '#616a6b',
  'real-time': '#7d3c98',
};

/** One finding, or several as clusters of one graph. */
export function findingsToDot(findings: readonly Finding[]): string {
  const clusters = findings.map((finding, i) => {
    const nodes = finding.transactions.map((tx) => {
      const texts = finding.operations.filter((op) => op.transaction === tx.id).map((op) => op.text);
      return `    f${i}t${tx.id} [label=${quote([tx.name, ...texts].join('\n'))}];`;
    });
    const edges = (finding.cycle ?? []).map((edge) => {
      const color = edgeColors[edge.kind] ?? '#000000';
      return `    f${i}t${edge.from} -> f${i}t${edge.to} [label=${quote(edgeLabel(edge))}, color="${color}", fontcolor="${color}"];`;
    });
    return [`  subgraph cluster_${i} {`, `    label=${quote(finding.kind)};`, ...nodes, ...edges, '  }'].join(
      '\n',
    );
  });
  return ['digraph isolde {', '  node [shape=box, fontname="monospace"];', ...clusters, '}', ''].join('\n');
}

/** A DOT string: only the quote and the backslash are special; control characters are shown, not sent. */
function quote(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, '\u{fffd}');
  return `"${escaped}"`;
}
