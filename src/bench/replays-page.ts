/** The table of replays on docs/stages/reproduce.md: rows of engines that were measured again replace those of the same name. */
import type { ReplayEngine } from './replays.js';

export interface ReplayedRow {
  readonly title: string;
  /** Histories whose first replay saw everything, and those of which a later one did. */
  readonly atOnce: number;
  readonly learnt: number;
  /** Of the others those that diverge at a statement of which the inference had said that it may. */
  readonly named: number;
  readonly of: number;
}

/** What share of histories has to come back. */
export function shareWanted({ url, level }: ReplayEngine): number {
  return url === 'postgres:' && level === 'read committed' ? 0.99 : 0.995;
}

const head = [
  '| | at once | after learning | not | of these named | histories |',
  '|---|---|---|---|---|---|',
];

/** The table with these rows in it; the others are taken from the page. */
export function replaysTable(page: string, rows: readonly ReplayedRow[]): string {
  const section = /<!-- replays -->\n([\s\S]*?)<!-- end of replays -->/.exec(page)?.[1] ?? '';
  const lines = section.split('\n').filter((line) => /^\| [^|]/.test(line) && !head.includes(line));
  const kept = new Map(lines.map((line) => [line.split('|')[1]!.trim(), line]));
  for (const { title, atOnce, learnt, named, of } of rows)
    kept.set(title, `| ${[title, atOnce, learnt, of - atOnce - learnt, named, of].join(' | ')} |`);
  return [...head, ...kept.values()].join('\n');
}
