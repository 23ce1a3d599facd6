/**
 * What a store of bugs does, wherever it keeps them: in a folder (`store.ts`) or in tables of a PostgreSQL that many machines share
 * (`shared/`). Both follow the rules below, and both read bugs by the one reader that trusts nothing (`bug-folder.ts`).
 *
 * - A bug with the same engine and signature is the same bug: its count grows, nothing else is written but the run.
 * - A bug is found by its id, the beginning or last part of it, or its signature.
 * - What an older release signed in another way is still the same bug (`OlderName`).
 */
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import type { Bug, BugVariant, VersionTried } from '../report/index.js';
import type { BugRecord, RunLine } from './bug-file.js';
import type { ForeignOptions } from './foreign-bugs.js';
import type { Ignored } from './ignore-file.js';

export interface BugStore {
  /** Where it is, for messages: a folder, or a URL without its password. */
  readonly place: string;
  /** Puts a bug in, or counts it when it is there already. */
  add(bug: Bug, options?: AddOptions): Promise<Added>;
  /** Every bug, the last seen first. */
  list(): Promise<BugList>;
  /** The bug of that id, signature, or beginning of an id. */
  get(name: string): Promise<Bug>;
  /** Where a person finds a bug: its folder, or the command that shows it. */
  folderOf(id: string): string;
  /** Writes down that a bug was tried on a target, and what came of it. */
  recordRun(id: string, run: VersionTried): Promise<void>;
  /** Makes hunts pass over a bug or a signature. */
  ignore(what: string, reason?: string): Promise<void>;
  /** Takes that back; false if it was not ignored. */
  unignore(what: string): Promise<boolean>;
  ignored(): Promise<readonly Ignored[]>;
  /** Whether a bug is to be passed over, by its id or its signature. */
  isIgnored(bug: Pick<Bug, 'id' | 'signature'>): Promise<boolean>;
  /** Writes a bug's folder to `into/<id>`, which must not exist. */
  exportTo(name: string, into: string): Promise<string>;
  /** Takes in a bug's folder, or every bug of a folder of such folders (`foreign-bugs.ts`). */
  importFrom(folder: string, options?: ForeignOptions): Promise<Added[]>;
  close(): Promise<void>;
}

export interface AddOptions {
  /** The history the bug was found in, before reduction; in memory, or as a `*.history.jsonl.gz` to copy. */
  readonly raw?: History | { readonly file: string };
  /** It comes from another store: a bug that is there already is not one more sighting (`joined`). */
  readonly imported?: boolean;
  /** The lines of its runs; default: that it was found, and `versions`. */
  readonly runs?: readonly RunLine[];
}

export interface Added {
  readonly id: string;
  readonly isNew: boolean;
  /** How often the bug has been found, this time included. */
  readonly count: number;
}

export interface BugList {
  readonly bugs: readonly BugRecord[];
  /** Bugs that could not be read, and why. */
  readonly problems: readonly string[];
}

/** A bug whose signature an older release computed in another way. */
export interface OlderName {
  readonly id: string;
  readonly signature: string;
  /** Its id by today's signature. */
  readonly now: string;
}

/** A bug that is not kept because it could not be read back. */
export class UnreadableBug extends IsoldeError {
  constructor(message: string, options: { readonly cause: unknown }) {
    super('bad-file', message, options);
  }
}

const idPattern = /^[a-z0-9][a-z0-9-]{0,99}$/;

export function checkId(id: string): void {
  if (!idPattern.test(id)) throw new IsoldeError('usage', `${JSON.stringify(id)} is no id of a bug`);
}

/** Whether what a person typed is the beginning or the last part of an id. */
export function nameFits(name: string, id: string): boolean {
  return idPattern.test(name) && (id.startsWith(name) || id.endsWith(`-${name}`));
}

/** The one id that a name means. */
export function onlyOne(ids: readonly string[], name: string, place: string): string {
  if (ids.length === 1) return ids[0]!;
  if (ids.length > 1) throw new IsoldeError('usage', `"${name}" fits several bugs: ${ids.join(', ')}`);
  throw new IsoldeError(
    'usage',
    `there is no bug "${name}" in ${place}; isolde bugs list shows what there is`,
  );
}

export function lastSeenFirst(a: BugRecord, b: BugRecord): number {
  return a.lastSeen < b.lastSeen ? 1 : a.lastSeen > b.lastSeen ? -1 : a.id < b.id ? -1 : 1;
}

/** A stored bug, or its record, after the same bug was found again. */
export function seenAgain<T extends BugRecord>(known: T, bug: BugRecord): T {
  const times = [known.firstSeen, known.lastSeen, bug.firstSeen, bug.lastSeen].sort();
  return {
    ...known,
    ...(bug.known !== undefined && { known: bug.known }),
    count: known.count + bug.count,
    variants: addVariants(known.variants ?? [], bug),
    firstSeen: times[0]!,
    lastSeen: times.at(-1)!,
  };
}

/**
 * A stored bug, or its record, with what another store says of it. Sightings that both count cannot be told from others, so the larger
 * number stands: importing once more changes nothing.
 */
export function joined<T extends BugRecord>(known: T, bug: BugRecord): T {
  const times = [known.firstSeen, known.lastSeen, bug.firstSeen, bug.lastSeen].sort();
  const variants = new Map((known.variants ?? []).map((variant) => [variant.variant, variant]));
  for (const variant of bug.variants ?? []) {
    const before = variants.get(variant.variant);
    if (before === undefined || before.count < variant.count) variants.set(variant.variant, variant);
  }
  return {
    ...known,
    count: Math.max(known.count, bug.count),
    ...((known.variants ?? bug.variants) !== undefined && { variants: [...variants.values()] }),
    firstSeen: times[0]!,
    lastSeen: times.at(-1)!,
  };
}

/** The forms of a bug with those of one more finding of it. */
export function addVariants(
  known: readonly BugVariant[],
  { variants = [], count }: Pick<Bug, 'variants' | 'count'>,
): BugVariant[] {
  const merged = new Map(known.map((variant) => [variant.variant, variant]));
  for (const variant of variants) {
    // A hunt adds what it only counted as one bug with a count.
    const more = variants.length === 1 ? count : variant.count;
    const before = merged.get(variant.variant)?.count ?? 0;
    merged.set(variant.variant, { ...variant, count: before + more });
  }
  return [...merged.values()];
}

/** The lines of a bug's runs that a store begins with. */
export function firstRuns(bug: Bug, runs: readonly RunLine[] = []): readonly RunLine[] {
  if (runs.length > 0) return runs;
  return [foundLine(bug), ...bug.versions.map((version): RunLine => ({ kind: 'rerun', ...version }))];
}

export function foundLine({ target, seed, lastSeen }: BugRecord): RunLine {
  return { kind: 'found', at: lastSeen, target, ...(seed === undefined ? {} : { seed }) };
}

/** Whether a list of what is ignored speaks of a bug, by today's name or an older one. */
export async function isListed(
  { id, signature }: Pick<Bug, 'id' | 'signature'>,
  list: readonly Ignored[],
  olderNames: () => Promise<readonly OlderName[]>,
): Promise<boolean> {
  const ignored = list.map(({ what }) => what);
  if (ignored.includes(id) || ignored.includes(signature)) return true;
  if (ignored.length === 0) return false;
  const older = await olderNames();
  return older.some((bug) => bug.now === id && (ignored.includes(bug.id) || ignored.includes(bug.signature)));
}
