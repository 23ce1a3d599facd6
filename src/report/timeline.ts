/**
 * The history as a timeline in SVG: one lane per session, one bar per operation, the finding's own operations in red.
 * Places follow the order of events, not the clock: a schedule's microseconds would make every bar a hair. Text comes from
 * cases and databases: it is escaped and cut.
 */
import { type History, interleave, type Operation } from '../histories/index.js';
import { escapeHtml } from '../markup.js';
import { oneLine } from '../visible.js';

const step = 34;
const lane = 260;
const head = 40;

export function timelineSvg(history: History, marked: ReadonlySet<number>): string {
  const sessions = history.header.sessions;
  const entries = interleave(history);
  const places = new Map<number, { sent: number; answered: number }>();
  entries.forEach(({ operation }, row) => {
    const place = places.get(operation.index);
    places.set(operation.index, { sent: place?.sent ?? row, answered: row });
  });
  const width = Math.max(1, sessions.length) * lane + 20;
  const height = head + entries.length * step + 20;
  const lanes = sessions.map((name, s) => {
    const x = s * lane + 20;
    return (
      `<text x="${x}" y="22" font-weight="bold">${escapeHtml(cut(name, 28))}</text>` +
      `<line x1="${x}" y1="${head - 8}" x2="${x}" y2="${height - 10}" stroke="#bbb"/>`
    );
  });
  const labels = new Map(
    entries.flatMap(({ operation, begins }) => (begins === undefined ? [] : [[operation.index, begins]])),
  );
  const bars = history.operations.map((operation) =>
    bar(operation, places.get(operation.index)!, marked, labels.get(operation.index)),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="monospace" font-size="12" role="img" aria-label="timeline">`,
    ...lanes,
    ...bars,
    '</svg>',
  ].join('\n');
}

function bar(
  operation: Operation,
  place: { sent: number; answered: number },
  marked: ReadonlySet<number>,
  begins: string | undefined,
): string {
  const x = operation.session * lane + 20;
  const y = head + place.sent * step;
  const height = (place.answered - place.sent) * step + 20;
  const color = marked.has(operation.index)
    ? '#c0392b'
    : operation.error === undefined
      ? '#2471a3'
      : '#7d6608';
  const waiting = operation.blocked === true ? ' stroke-dasharray="3 2" fill-opacity="0.4"' : '';
  const sql = operation.sql ?? operation.kind;
  const label = begins === undefined ? sql : `${begins}: ${sql}`;
  return (
    `<g><title>${escapeHtml(`${operation.index}: ${oneLine(sql)}`)}</title>` +
    `<rect x="${x - 5}" y="${y}" width="10" height="${height}" rx="3" fill="${color}" stroke="${color}"${waiting}/>` +
    `<text x="${x + 12}" y="${y + 14}"${marked.has(operation.index) ? ' fill="#c0392b"' : ''}>${escapeHtml(cut(label, 32))}</text></g>`
  );
}

function cut(text: string, length: number): string {
  const characters = [...oneLine(text)];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : characters.join('');
}
