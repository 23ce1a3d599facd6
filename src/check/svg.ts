/**
 * A finding's cycle as a self-contained SVG: transactions on a circle, edges as arrows with their labels. Labels come
 * from files: they are escaped, cut to a length, and never become markup.
 */
import { edgeColors } from './dot.js';
import { edgeLabel } from './explain.js';
import type { CycleEdge, Finding, FindingTransaction } from './finding.js';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly lines: readonly string[];
}

const lineHeight = 16;
const charWidth = 7.3;
const longestLine = 48;
const mostLines = 8;

export function findingToSvg(finding: Finding): string {
  const boxes = placeBoxes(finding);
  const all = [...boxes.values()];
  const margin = 70;
  const left = Math.min(0, ...all.map((box) => box.x - box.width / 2)) - margin;
  const top = Math.min(0, ...all.map((box) => box.y - box.height / 2)) - margin;
  const right = Math.max(0, ...all.map((box) => box.x + box.width / 2)) + margin;
  const bottom = Math.max(0, ...all.map((box) => box.y + box.height / 2)) + margin;
  const size = `${round(left)} ${round(top)} ${round(right - left)} ${round(bottom - top)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${size}" font-family="monospace" font-size="12">`,
    `<title>${escapeXml(finding.kind)}</title>`,
    '<defs>',
    ...Object.entries(edgeColors).map(
      ([kind, color]) =>
        `<marker id="arrow-${kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L10 5L0 10z" fill="${color}"/></marker>`,
    ),
    '</defs>',
    ...(finding.cycle ?? []).map((edge) => drawEdge(edge, boxes)),
    ...all.map(drawBox),
    '</svg>',
    '',
  ].join('\n');
}

/** Transactions of the cycle in its order, then the others, on a circle wide enough for the widest. */
function placeBoxes(finding: Finding): Map<number, Box> {
  const byId = new Map(finding.transactions.map((tx) => [tx.id, tx]));
  const inCycle = (finding.cycle ?? []).map((edge) => edge.from).filter((id) => byId.has(id));
  const ids = [...new Set([...inCycle, ...byId.keys()])];
  const texts = ids.map((id) => boxLines(finding, byId.get(id)!));
  const width = Math.max(...texts.flat().map((line) => line.length), 4) * charWidth + 16;
  const radius = ids.length === 1 ? 0 : Math.max(110, (width + 60) / (2 * Math.sin(Math.PI / ids.length)));
  return new Map(
    ids.map((id, i) => {
      const angle = (2 * Math.PI * i) / ids.length - Math.PI / 2;
      const lines = texts[i]!;
      const height = lines.length * lineHeight + 12;
      return [id, { x: radius * Math.cos(angle), y: radius * Math.sin(angle), width, height, lines }];
    }),
  );
}

function boxLines(finding: Finding, tx: FindingTransaction): string[] {
  const operations = finding.operations.filter((op) => op.transaction === tx.id).map((op) => op.text);
  const shown = operations.length > mostLines ? [...operations.slice(0, mostLines - 1), '…'] : operations;
  return [tx.name, ...shown].map((line) => {
    const characters = [...line];
    return characters.length > longestLine ? `${characters.slice(0, longestLine - 1).join('')}…` : line;
  });
}

function drawBox(box: Box): string {
  const x = box.x - box.width / 2;
  const y = box.y - box.height / 2;
  const texts = box.lines.map((line, i) => {
    const weight = i === 0 ? ' font-weight="bold"' : '';
    return `<text x="${round(x + 8)}" y="${round(y + 18 + i * lineHeight)}"${weight}>${escapeXml(line)}</text>`;
  });
  const frame = `<rect x="${round(x)}" y="${round(y)}" width="${round(box.width)}" height="${round(box.height)}" rx="4" fill="#fff" stroke="#333"/>`;
  return `<g>${frame}${texts.join('')}</g>`;
}

function drawEdge(edge: CycleEdge, boxes: ReadonlyMap<number, Box>): string {
  const from = boxes.get(edge.from);
  const to = boxes.get(edge.to);
  if (from === undefined || to === undefined) return '';
  // Bend to the left of the direction, so that the two edges of a pair do not lie on each other.
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  const bend = 40;
  const cx = (from.x + to.x) / 2 + (dy / length) * bend * 2;
  const cy = (from.y + to.y) / 2 - (dx / length) * bend * 2;
  const start = border(from, cx, cy);
  const end = border(to, cx, cy);
  const labelX = (start.x + 2 * cx + end.x) / 4;
  const labelY = (start.y + 2 * cy + end.y) / 4;
  const color = edgeColors[edge.kind] ?? '#000000';
  return [
    `<path d="M${round(start.x)} ${round(start.y)}Q${round(cx)} ${round(cy)} ${round(end.x)} ${round(end.y)}" fill="none" stroke="${color}" stroke-width="1.5" marker-end="url(#arrow-${edge.kind})"/>`,
    `<text x="${round(labelX)}" y="${round(labelY)}" fill="${color}" text-anchor="middle">${escapeXml(edgeLabel(edge))}</text>`,
  ].join('');
}

/** Where the line from a box's middle towards a point leaves the box. */
function border(box: Box, x: number, y: number): { x: number; y: number } {
  const dx = x - box.x;
  const dy = y - box.y;
  const scale = Math.min(
    box.width / 2 / Math.max(Math.abs(dx), 0.001),
    box.height / 2 / Math.max(Math.abs(dy), 0.001),
    1,
  );
  return { x: box.x + dx * scale, y: box.y + dy * scale };
}

const round = (value: number): number => Math.round(value * 10) / 10;

function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
