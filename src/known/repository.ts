/**
 * The repository of known bugs: what ships with the package (`known/`), and a folder of the user's own in the same form, whose
 * entries replace shipped ones of the same id.
 *
 *     known/study.jsonl  known/own.jsonl    entries, one a line (any *.jsonl)
 *     known/cases/ID.sql                    a case that shows the bug ID
 *
 * Where there is a case, it says more than the entry: description and features are the case's.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorText, IsoldeError } from '../errors.js';
import { caseFeatures } from './case-features.js';
import { type KnownEntry, parseEntries } from './entry.js';
import { encode, type Features } from './features.js';
import { type KnownCase, parseKnownCase } from './known-case.js';
import { type Vector, weigh } from './weights.js';

export interface KnownBug extends KnownEntry {
  readonly case?: KnownCase;
  readonly vector: Vector;
  /** Shipped with the package, or the user's own. */
  readonly from: 'shipped' | 'own';
}

export interface Repository {
  /** In the order of their ids. */
  readonly bugs: readonly KnownBug[];
  /** Files of the user's folder that could not be read. */
  readonly problems: readonly string[];
  /** Of each component of a vector; computed once, when first asked for. */
  readonly weights: ReadonlyMap<string, number>;
}

const mostBytes = 16 * 1024 * 1024;
const mostFiles = 10_000;

export interface OpenKnownOptions {
  /** The user's own folder; it need not exist. */
  readonly own?: string;
  /** The shipped folder; default: that of this package. */
  readonly shipped?: string;
}

export async function openKnown(options: OpenKnownOptions = {}): Promise<Repository> {
  const problems: string[] = [];
  const bugs = new Map<string, KnownBug>();
  for (const bug of await readFolder(options.shipped ?? shippedFolder(), 'shipped', (problem) => {
    throw new IsoldeError('bad-file', problem);
  }))
    bugs.set(bug.id, bug);
  if (options.own !== undefined && existsSync(options.own)) {
    for (const bug of await readFolder(options.own, 'own', (problem) => problems.push(problem)))
      bugs.set(bug.id, bug);
  }
  const sorted = [...bugs.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  let weights: ReadonlyMap<string, number> | undefined;
  return {
    bugs: sorted,
    problems,
    get weights() {
      weights ??= weigh(sorted.map(({ id, bug = id, vector }) => ({ bug, vector })));
      return weights;
    },
  };
}

/** Beside the sources, the library (`dist/`) or the bundled program (`dist/bin/`): the first folder above that has it. */
function shippedFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const place = join(folder, 'known');
    if (existsSync(join(place, 'own.jsonl'))) return place;
    if (dirname(folder) === folder)
      throw new IsoldeError('file-system', 'the package lacks its folder known/');
  }
}

/** A file that is wrong is a problem, and the others are read. */
async function readFolder(
  folder: string,
  from: KnownBug['from'],
  onProblem: (problem: string) => void,
): Promise<KnownBug[]> {
  const entries = new Map<string, KnownEntry>();
  const cases = new Map<string, KnownCase>();
  const attempt = async (file: string, read: (text: string) => void) => {
    try {
      read(await readBounded(file));
    } catch (error) {
      if (!(error instanceof IsoldeError)) throw error;
      onProblem(error.message);
    }
  };
  for (const name of await namesIn(folder, '.jsonl')) {
    const file = join(folder, name);
    await attempt(file, (text) => {
      for (const entry of parseEntries(text, file)) entries.set(entry.id, entry);
    });
  }
  for (const name of await namesIn(join(folder, 'cases'), '.sql')) {
    const file = join(folder, 'cases', name);
    await attempt(file, (text) => {
      const id = name.slice(0, -'.sql'.length);
      if (!entries.has(id)) throw new IsoldeError('bad-file', `${file}: no entry is called ${id}`);
      cases.set(id, parseKnownCase(text, file));
    });
  }
  return [...entries.values()].map((entry) => withCase(entry, cases.get(entry.id), from));
}

function withCase(entry: KnownEntry, found: KnownCase | undefined, from: KnownBug['from']): KnownBug {
  const features: Features =
    found === undefined ? entry.features : caseFeatures(found.case, { engine: entry.engine });
  const bug = found?.bug ?? entry.bug;
  const about = found?.case.description ?? entry.about;
  const vector = encode(entry.engine, features);
  return {
    ...entry,
    ...(bug !== undefined && { bug }),
    about,
    features,
    vector,
    from,
    ...(found && { case: found }),
  };
}

async function readBounded(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > mostBytes) throw new IsoldeError('bad-file', `${file} is larger than ${mostBytes} bytes`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof IsoldeError) throw error;
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
}

async function namesIn(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw new IsoldeError('file-system', `cannot read ${folder}: ${errorText(error)}`, { cause: error });
  });
  return names
    .filter((name) => name.endsWith(ending))
    .sort()
    .slice(0, mostFiles);
}
