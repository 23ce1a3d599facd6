/**
 * The results of a matrix on disk, one line a cell, so that a run that was stopped goes on where it was. Only places that name a
 * version are kept: what `duckdb:` opens tomorrow is another one.
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorText } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { type JsonNode, parseJson } from '../json.js';
import { diskFiles, readTarget, readText } from '../store/index.js';
import type { Cell, CellOutcome, CellResult } from './cell.js';

const outcomes: readonly CellOutcome[] = ['shows', 'does-not-show', 'undecided', 'cannot-run'];

/** What a journal holds. A line that was cut off, or is another's, is left out and reported. */
export async function readJournal(
  file: string,
  onProblem: (why: string) => void = () => undefined,
): Promise<Map<string, CellResult>> {
  const found = new Map<string, CellResult>();
  const lines = ((await readText(file)) ?? '').split('\n');
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    try {
      const node = parseJson(line, file, i + 1);
      node.object(['key', 'outcome', 'why', 'shown', 'runs', 'target', 'behaviours']);
      found.set(node.at('key').text(), readResult(node));
    } catch (error) {
      onProblem(errorText(error));
    }
  }
  return found;
}

function readResult(node: JsonNode): CellResult {
  const behaviours = node.maybe('behaviours', (list) => list.items().map((each) => each.text()));
  return {
    outcome: node.at('outcome').oneOf(outcomes),
    why: node.at('why').text(),
    shown: node.at('shown').count(),
    runs: node.at('runs').count(),
    target: readTarget(node.at('target')),
    ...(behaviours !== undefined && { behaviours }),
  };
}

/** Adds a result, if it will still be true tomorrow. */
export async function writeJournal(file: string, key: string, { place, result }: Cell): Promise<void> {
  const { outcome, why, shown, runs, target, behaviours } = result;
  if (place.version === undefined || target === undefined) return;
  const { name, version, url, settings } = target;
  const line = { key, outcome, why, shown, runs, target: { name, version, url, settings }, behaviours };
  try {
    await mkdir(dirname(file), { recursive: true });
    // It ends a line that was cut off first, lest the new one be lost with it.
    await diskFiles.append(file, `${JSON.stringify(line)}\n`);
  } catch (error) {
    throw fileProblem('write', file, error);
  }
}
