/** A matrix as a table: one row a place, one column a case, or the other way round where there are more cases than places. */
import { describeInterval } from '../affected-versions.js';
import type { Affected } from './affected.js';
import { type Cell, type CellOutcome, namePlace, type Place } from './cell.js';

const signs: Readonly<Record<Exclude<CellOutcome, 'shows'>, string>> = {
  'does-not-show': 'no',
  undecided: '?',
  'cannot-run': '–',
};

/** What the signs of a table mean. */
export const legend = '3/3: shows in 3 of 3 runs · no: does not show · ?: ran, but undecided · –: cannot run';

/** The rows of a table, its head first. Cells that were not reached are empty. */
export function matrixTable(cells: readonly Cell[]): string[][] {
  const subjects = [...new Set(cells.map(({ subject }) => subject))];
  const places = [...new Set(cells.map(nameColumn))];
  const found = new Map(cells.map((cell) => [JSON.stringify([cell.subject, nameColumn(cell)]), sign(cell)]));
  const at = (subject: string, place: string) => found.get(JSON.stringify([subject, place])) ?? '';
  if (subjects.length <= places.length)
    return [
      ['', ...subjects],
      ...places.map((place) => [place, ...subjects.map((subject) => at(subject, place))]),
    ];
  return [
    ['', ...places],
    ...subjects.map((subject) => [subject, ...places.map((place) => at(subject, place))]),
  ];
}

/** Cells in the order of their places, whenever they were tried. */
export function inOrderOf(places: readonly Place[], cells: readonly Cell[]): Cell[] {
  const order = new Map(places.map(({ url }, at) => [url, at]));
  const at = ({ place }: Cell) => order.get(place.url) ?? places.length;
  return cells.toSorted((a, b) => at(a) - at(b));
}

function nameColumn({ place, level }: Cell): string {
  return `${namePlace(place)}${level === undefined ? '' : `, ${level}`}`;
}

function sign({ result }: Cell): string {
  return result.outcome === 'shows' ? `${result.shown}/${result.runs}` : signs[result.outcome];
}

/** One row a case and line of versions: where it shows. */
export function affectedTable(all: readonly Affected[]): string[][] {
  const decided = all.filter(({ tried }) => tried > 0);
  const rows = decided.flatMap(({ subject, engine, settings, level, tried, intervals }) => {
    const place = [engine, settings, level ?? ''].filter((text) => text !== '').join(', ');
    if (intervals.length === 0) return [[subject, place, `does not show in any of ${tried}`]];
    return intervals.map((interval) => [subject, place, describeInterval(interval)]);
  });
  return [['case', 'on', 'affected versions'], ...rows];
}
