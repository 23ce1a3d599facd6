#!/usr/bin/env node
/**
 * How long a hunt needs for each fault of the wrapper: `node build/bench/hunt-faults.js [file] [seconds] [seeds] [fault,…]`
 * writes the table of `docs/stages/hunt-faults.md`. With faults named, only their rows are measured; the others stay.
 *
 * A bug counts only if the engine without the fault does not show it: DuckDB has bugs of its own, and they must not be
 * taken for ours.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Level } from '../contracts/index.js';
import { errorText } from '../errors.js';
import { hunt, type Shelf } from '../hunt/index.js';
import { contractAt, Database } from '../judge/index.js';
import type { Bug } from '../report/index.js';
import { type FaultName, faultNames, openTarget } from '../targets/index.js';

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
  let found: Bug | undefined;
  const shelf: Shelf = {
    isIgnored: (bug) => showsWithout(bug as Bug, healthy),
    add: async (bug) => {
      found = bug;
      return { bug, isNew: true, files: [] };
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
    kind: found.finding.kind,
  } satisfies Found;
}

function levelFor({ level }: Engine, fault: FaultName, { target }: Database): Level {
  const wanted = levels[fault];
  return wanted !== undefined && target.levels.some((each) => each.level === wanted) ? wanted : level;
}

/** Whether the engine shows something in this case by itself. */
async function showsWithout(bug: Bug, healthy: Database): Promise<boolean> {
  const contract = contractAt('vendor', healthy.target, bug.level);
  for (const oracle of ['mechanism', 'dependency-graph']) {
    const { case: program, schedule, level } = bug;
    const observed = await healthy.observe({ case: program, schedule, oracle, level, contract }, 0);
    if (observed.kind === 'ran' && observed.findings.length > 0) return true;
  }
  return false;
}

function cell(hunts: readonly (Found | undefined)[], limitMs: number): string {
  const sorted = hunts.map((each) => each?.seconds ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  if (median === Number.POSITIVE_INFINITY) return `not within ${limitMs / 1000} s`;
  const kinds = [...new Set(hunts.flatMap((each) => (each === undefined ? [] : [each.kind])))];
  return `${median.toFixed(1)} s (${kinds.join(', ')})`;
}

/** The cells of a table that was written before, by fault. */
async function writtenRows(file: string): Promise<Map<string, string[]>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return new Map(
    [...text.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)].map(([, fault, cells]) => [
      fault!,
      cells!.split(' | '),
    ]),
  );
}

async function main(
  file: string,
  limitMs: number,
  seeds: number,
  asked: readonly FaultName[],
): Promise<void> {
  const before = await writtenRows(file);
  const rows = new Map<string, string[]>(
    faultNames.map((fault) => [
      fault,
      asked.includes(fault) ? [] : (before.get(fault) ?? engines.map(() => 'not measured')),
    ]),
  );
  const versions: string[] = [];
  for (const engine of engines) {
    const healthy = await Database.open({ open: () => openTarget(engine.url) });
    versions.push(`${engine.title} ${healthy.target.stamp.version}`);
    for (const fault of asked) {
      const hunts: (Found | undefined)[] = [];
      try {
        for (let seed = 1; seed <= seeds; seed++)
          hunts.push(await findFault(engine, { fault, seed: String(seed), limitMs }, healthy));
        rows.get(fault)!.push(cell(hunts, limitMs));
      } catch (error) {
        // The wrapper refuses faults of features that the engine lacks; nothing else may pass for that.
        if (!errorText(error).includes('cannot be injected')) throw error;
        rows.get(fault)!.push('cannot be injected');
      }
      console.error(`${engine.title} ${fault}: ${rows.get(fault)!.at(-1)}`);
    }
    await healthy.close();
  }
  const table = [
    ['fault', ...engines.map(({ title }) => title)],
    ['---', ...engines.map(() => '---')],
    ...[...rows].map(([fault, cells]) => [`\`${fault}\``, ...cells]),
  ].map((cells) => `| ${cells.join(' | ')} |`);
  const text = `# Faults found by hunts

Median seconds to the first confirmed, reduced bug over ${seeds} seeds, one lane, and the kinds of finding that showed it. Versions:
${versions.join('; ')}. Written by \`node build/bench/hunt-faults.js\`; bugs the engine shows without the fault do not count.
Faults are not narrowed: each strikes at every occasion, and hunts open with the probe cases, so rarer triggers take longer. On
PostgreSQL \`stale-reevaluation\` is hunted at READ COMMITTED, \`missed-certification\` at SERIALIZABLE.

${table.join('\n')}
`;
  await writeFile(file, text);
}

const [file = 'docs/stages/hunt-faults.md', seconds = '120', seeds = '3', named] = process.argv.slice(2);
const asked =
  named === undefined ? faultNames : faultNames.filter((fault) => named.split(',').includes(fault));
await main(file, Number(seconds) * 1000, Number(seeds), asked);
