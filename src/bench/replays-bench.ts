/**
 * `npm run bench replays [-- --seeds 200 --only postgres:/read committed,… --keep FOLDER --write FILE]`: replays of random
 * histories, on each engine at each level. `--keep` writes the histories that diverge there; `--write` the rows of what was measured into the table of a
 * page (docs/stages/reproduce.md), where the others stay as they are.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeWholeHistory } from '../histories/index.js';
import type { Figure } from './measure.js';
import { writeSection } from './page-section.js';
import { type HistoryReplayed, ReplayLab, replayEngines } from './replays.js';
import { type ReplayedRow, replaysTable, shareWanted } from './replays-page.js';

export async function benchReplays(args: readonly string[]): Promise<Figure[]> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '200' },
      first: { type: 'string', default: '1' },
      most: { type: 'string', default: '300' },
      only: { type: 'string' },
      keep: { type: 'string' },
      write: { type: 'string' },
    },
  });
  const only = values.only?.split(',');
  const figures: Figure[] = [];
  const rows: ReplayedRow[] = [];
  for (const engine of replayEngines) {
    const name = `${engine.url} ${engine.level}`;
    if (only !== undefined && !only.some((text) => name.startsWith(text))) continue;
    const lab = await ReplayLab.open(engine);
    const all: HistoryReplayed[] = [];
    try {
      for (let seed = Number(values.first); seed < Number(values.first) + Number(values.seeds); seed++) {
        const found = await lab.replay(seed, await lab.run(seed), Number(values.most));
        all.push(found);
        if (found.difference === undefined) continue;
        const { session, sql, was, is } = found.difference;
        console.error(
          `${name}, seed ${seed}, ${found.replays} replays: ${session}: ${sql}: was ${was}, is ${is} (named: ${found.named.join(', ')}; left out ${found.leftOut.length})`,
        );
        if (values.keep === undefined) continue;
        await mkdir(values.keep, { recursive: true });
        const file = `${name.replaceAll(/\W+/g, '-')}-${seed}.history.jsonl`;
        await writeWholeHistory(join(values.keep, file), found.history);
      }
    } finally {
      await lab.close();
    }
    const row = rowOf(engine.title, all);
    const { atOnce, learnt, of } = row;
    const wanted = shareWanted(engine);
    rows.push(row);
    figures.push({
      name,
      measured: `${atOnce} at once, ${learnt} after learning, ${of - atOnce - learnt} not (${row.named} of these named), of ${of}`,
      target: `≥ ${(wanted * 100).toFixed(1)} %`,
      pass: (atOnce + learnt) / of >= wanted,
    });
    // An hour's work is kept as it goes.
    if (values.write !== undefined)
      await writeSection(values.write, 'replays', replaysTable(await readFile(values.write, 'utf8'), rows));
  }
  return figures;
}

function rowOf(title: string, all: readonly HistoryReplayed[]): ReplayedRow {
  const same = all.filter(({ difference }) => difference === undefined);
  const atOnce = same.filter(({ replays }) => replays === 1).length;
  const named = all.filter((one) => one.difference !== undefined && one.named.length > 0).length;
  return { title, atOnce, learnt: same.length - atOnce, named, of: all.length };
}
