#!/usr/bin/env node
/**
 * How long a hunt needs for each fault of the wrapper: `node build/bench/hunt-faults.js [file] [seconds] [seeds] [fault,…] [url]`
 * writes the table of `docs/stages/hunt-faults.md`. With faults or an engine named, only their cells are measured; the others stay
 * (`hunt-faults-page.ts`), so that the table can be measured in pieces.
 *
 * A bug counts only if the engine without the fault does not show it: DuckDB has bugs of its own, and they must not be
 * taken for ours.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Level } from '../contracts/index.js';
import { hunt, type Shelf } from '../hunt/index.js';
import { Database } from '../judge/index.js';
import type { Bug } from '../report/index.js';
import { type FaultName, faultNames, openTarget, UnfitFault } from '../targets/index.js';
import { withCell } from './hunt-faults-page.js';
import { burstShowsWithout, showsWithout } from './shows-without.js';

interface Engine {
  readonly url: string;
  readonly title: string;
  readonly level: Level;
}

const engines: readonly Engine[] = [
  { url: 'postgres:', title: 'PostgreSQL, RR', level: 'repeatable read' },
  { url: 'duckdb:', title: 'DuckDB', level: 'snapshot' },
];

/** Faults that show at another level only, where the engine has it. */
const levels: Partial<Readonly<Record<FaultName, Level>>> = {
  'stale-reevaluation': 'read committed',
  'missed-certification': 'serializable',
};

/** Only the statement oracle finds these, and hunts run it only if it is named. */
const faultsOfEvaluation: ReadonlySet<string> = new Set<FaultName>([
  'mixed-snapshot',
  'stale-index',
  'misfolded-expression',
  'altered-commit',
]);

/** What one hunt for a fault gave. */
interface Found {
  readonly seconds: number;
  readonly rounds: number;
  readonly kind: string;
}

interface FaultHunt {
  readonly fault: FaultName;
  readonly seed: string;
  readonly limitMs: number;
}

async function findFault(engine: Engine, { fault, seed, limitMs }: FaultHunt, healthy: Database) {
  let found: string | undefined;
  const shelf: Shelf = {
    // Of a burst there are names only; it is asked about when it is added.
    isIgnored: async (bug) => 'finding' in bug && showsWithout(bug as Bug, healthy),
    add: async (bug) => {
      found = bug.finding.kind;
      return { bug, isNew: true, files: [] };
    },
    addBurst: async (finding) => {
      const own = await burstShowsWithout(finding, healthy);
      if (!own) found = `burst of ${finding.program}`;
      return { id: finding.program, isNew: !own, folder: '', finding };
    },
    seenAgain: () => undefined,
  };
  const { counters } = await hunt({
    open: () => openTarget(`${engine.url}?fault=${fault}`),
    shelf,
    seed,
    ...(faultsOfEvaluation.has(fault) && { oracles: ['statement'], profile: 'queries' }),
    levels: [levelFor(engine, fault, healthy)],
    forMs: limitMs,
    bugs: 1,
  });
  if (found === undefined || counters.firstBugSeconds === null) return undefined;
  return {
    seconds: counters.firstBugSeconds,
    rounds: counters.rounds,
    kind: found,
  } satisfies Found;
}

function levelFor({ level }: Engine, fault: FaultName, { target }: Database): Level {
  const wanted = levels[fault];
  return wanted !== undefined && target.levels.some((each) => each.level === wanted) ? wanted : level;
}

function cell(hunts: readonly (Found | undefined)[], limitMs: number): string {
  const sorted = hunts.map((each) => each?.seconds ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  if (median === Number.POSITIVE_INFINITY) return `not within ${limitMs / 1000} s (${hunts.length} hunts)`;
  const kinds = [...new Set(hunts.flatMap((each) => (each === undefined ? [] : [each.kind])))];
  const { rounds } = hunts.find((each) => each?.seconds === median)!;
  const found = sorted.filter((seconds) => seconds < Number.POSITIVE_INFINITY).length;
  return `${median.toFixed(1)} s, ${rounds} rounds, ${found} of ${sorted.length} (${kinds.join(', ')})`;
}

async function main(
  file: string,
  limitMs: number,
  seeds: number,
  { faults: asked, url }: { readonly faults: readonly FaultName[]; readonly url: string | undefined },
): Promise<void> {
  for (const engine of engines.filter((each) => url === undefined || url === each.url)) {
    const healthy = await Database.open({ open: () => openTarget(engine.url) });
    const heading = `${engine.title} (${healthy.target.stamp.version})`;
    for (const fault of asked) {
      const text = await measured(engine, { fault, seeds, limitMs }, healthy);
      console.error(`${engine.title} ${fault}: ${text}`);
      // Read anew each time: others may have measured other faults meanwhile.
      const page = await readFile(file, 'utf8').catch(() => '');
      const columns = engines.map(({ title }) => title);
      await writeFile(file, withCell(page, { columns, faults: faultNames }, { fault, heading, text }));
    }
    await healthy.close();
  }
}

async function measured(
  engine: Engine,
  { fault, seeds, limitMs }: { readonly fault: FaultName; readonly seeds: number; readonly limitMs: number },
  healthy: Database,
): Promise<string> {
  const hunts: (Found | undefined)[] = [];
  try {
    for (let seed = 1; seed <= seeds; seed++)
      hunts.push(await findFault(engine, { fault, seed: String(seed), limitMs }, healthy));
    return cell(hunts, limitMs);
  } catch (error) {
    // The wrapper refuses faults of features that the engine lacks; nothing else may pass for that.
    if (!(error instanceof UnfitFault)) throw error;
    return 'cannot be injected';
  }
}

const [file = 'docs/stages/hunt-faults.md', seconds = '120', seeds = '3', named, url] = process.argv.slice(2);
const asked =
  named === undefined || named === 'all'
    ? faultNames
    : faultNames.filter((fault) => named.split(',').includes(fault));
await main(file, Number(seconds) * 1000, Number(seeds), { faults: asked, url });
