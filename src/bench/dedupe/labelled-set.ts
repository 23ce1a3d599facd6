/**
 * The labelled set: for each cause, bugs that hunts of different seeds and profiles found. The label is what was injected or what the programs were
 * made of (`causes.ts`), never what Isolde thinks of the finding; a bug that the engine shows without the cause is left out.
 *
 * Hunting is what costs, so every bug is appended to a file as it is found, and a later run goes on with what is missing. A cause is
 * done when it has as many bugs as are wanted. A file whose name ends with `.gz` is compressed, line by line where it grows; the set of the published
 * figures is kept so beside this file.
 */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Case, Schedule } from '../../cases/index.js';
import type { Finding } from '../../check/index.js';
import type { Level } from '../../contracts/index.js';
import { errorText } from '../../errors.js';
import type { Profile } from '../../generate/index.js';
import type { History, TargetStamp } from '../../histories/index.js';
import { hunt, type Shelf } from '../../hunt/index.js';
import type { Bug } from '../../report/index.js';
import { showsWithout } from '../shows-without.js';
import { type Builds, isUnfit } from './builds.js';
import { faultOf, isOfCause, type LabelledCause } from './causes.js';

export interface LabelledItem {
  /** The label. */
  readonly cause: string;
  readonly seed: number;
  /** Where it was found, as a URL without the fault. */
  readonly engine: string;
  /** Profile it was found with; `mix`: the hunt’s own. */
  readonly profile: string;
  readonly level: Level;
  readonly target: TargetStamp;
  readonly case: Case;
  readonly schedule: Schedule;
  readonly finding: Finding;
  readonly history: History;
  readonly notIsolation?: true;
}

export const itemId = ({ cause, seed }: Pick<LabelledItem, 'cause' | 'seed'>): string => `${cause} ${seed}`;

/** A seed for which nothing was found in the time given. */
export interface Miss {
  readonly cause: string;
  readonly seed: number;
  readonly missed: string;
}

export interface HuntSetOptions {
  readonly causes: readonly LabelledCause[];
  /** Bugs of each cause, and seeds that are tried for them. */
  readonly wanted: number;
  readonly seeds: number;
  /** For one seed. */
  readonly limitMs: number;
  readonly file: string;
  /** No new hunt begins after this moment, by `Date.now`. */
  readonly until: number;
  readonly onItem: (line: string) => void;
}

export interface LabelledSet {
  readonly items: readonly LabelledItem[];
  readonly misses: readonly Miss[];
}

/** What a file holds of these causes. */
export async function readSet(file: string, causes: readonly LabelledCause[]): Promise<LabelledSet> {
  const wanted = new Set(causes.map(({ id }) => id));
  const lines = (await readLines(file)).filter(({ cause }) => wanted.has(cause));
  return {
    items: lines.filter((line): line is LabelledItem => 'finding' in line),
    misses: lines.filter((line): line is Miss => 'missed' in line),
  };
}

async function readLines(file: string): Promise<(LabelledItem | Miss)[]> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined) return [];
  const text = (isCompressed(file) ? gunzipSync(bytes) : bytes).toString('utf8');
  // A line that was cut off by the end of a run is hunted again.
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as LabelledItem | Miss];
    } catch {
      return [];
    }
  });
}

const isCompressed = (file: string): boolean => file.endsWith('.gz');

async function appendLine(file: string, item: LabelledItem | Miss): Promise<void> {
  const line = `${JSON.stringify(item)}\n`;
  await appendFile(file, isCompressed(file) ? gzipSync(line) : line);
}

/** Hunts what the file lacks; seed by seed, so that a run cut short has some of every cause. */
export async function huntSet(builds: Builds, options: HuntSetOptions): Promise<void> {
  const { causes, wanted, seeds, file, until, onItem } = options;
  await mkdir(dirname(file), { recursive: true });
  const lines = await readLines(file);
  const done = new Set(lines.map(itemId));
  const found = new Map<string, number>();
  const count = (cause: string) => found.set(cause, (found.get(cause) ?? 0) + 1);
  for (const line of lines) if ('finding' in line) count(line.cause);
  for (let seed = 1; seed <= seeds; seed++) {
    for (const cause of causes) {
      if (done.has(itemId({ cause: cause.id, seed })) || (found.get(cause.id) ?? 0) >= wanted) continue;
      if (Date.now() > until) return;
      // An oracle that fails on one history must not end the hunt for all others; the file keeps why.
      const item = await huntOne(builds, cause, seed, options.limitMs).catch(
        (error: unknown): Miss => ({ cause: cause.id, seed, missed: `the hunt failed: ${errorText(error)}` }),
      );
      await appendLine(file, item);
      if ('finding' in item) count(cause.id);
      onItem(`${cause.id} seed ${seed}: ${'finding' in item ? item.finding.kind : item.missed}`);
    }
  }
}

async function huntOne(
  builds: Builds,
  cause: LabelledCause,
  seed: number,
  limitMs: number,
): Promise<LabelledItem | Miss> {
  const miss = (missed: string): Miss => ({ cause: cause.id, seed, missed });
  const engine = cause.engines[seed % cause.engines.length]!;
  try {
    await builds.target(engine, faultOf(cause));
  } catch (error) {
    if (isUnfit(error)) return miss('cannot be injected');
    throw error;
  }
  const first = seed % cause.profiles.length;
  // A profile that does not bring the bug about gives way to the next.
  for (const i of cause.profiles.length > 1 ? [first, first + 1] : [first]) {
    const profile = cause.profiles[i % cause.profiles.length]!;
    const found = await huntFor(builds, cause, { seed, engine, profile, limitMs });
    if (found === undefined) continue;
    const { target, level, case: program, schedule, finding, history, notIsolation } = found;
    return {
      ...{ cause: cause.id, seed, engine, profile: typeof profile === 'string' ? profile : profile.name },
      ...{ level, target, case: program, schedule, finding, history, ...(notIsolation && { notIsolation }) },
    };
  }
  return miss(`nothing in ${limitMs / 1000} s`);
}

interface Search {
  readonly seed: number;
  readonly engine: string;
  readonly profile: Profile | string;
  readonly limitMs: number;
}

async function huntFor(
  builds: Builds,
  cause: LabelledCause,
  { seed, engine, profile, limitMs }: Search,
): Promise<Bug | undefined> {
  const { fault, mended, level, oracle } = cause;
  // Where the bug must not show: without what was injected, or where it is mended.
  const without = fault !== undefined ? engine : mended;
  let found: Bug | undefined;
  const shelf: Shelf = {
    isIgnored: async (bug) =>
      !isOfCause(cause, (bug as Bug).case) ||
      (without !== undefined && (await showsWithout(bug as Bug, await builds.database(without)))),
    add: async (bug) => {
      found ??= bug;
      return { bug, isNew: true, files: [] };
    },
    seenAgain: () => undefined,
  };
  await hunt({
    open: () => builds.target(engine, faultOf(cause)),
    shelf,
    seed: itemId({ cause: cause.id, seed }),
    ...(profile !== 'mix' && { profile }),
    ...(oracle !== undefined && { oracles: [oracle] }),
    levels: [level],
    forMs: limitMs,
    bugs: 1,
  });
  return found;
}
