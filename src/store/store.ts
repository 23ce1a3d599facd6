/**
 * The store: one folder per bug, for people to read, diff and commit, and for programs to add to.
 *
 *     .isolde/store.json           the format's version
 *     .isolde/ignore.json          what hunts pass over
 *     .isolde/bugs/<id>/           one bug (`bug-folder.ts`)
 *     .isolde/unreadable/          bugs that could not be read when they were found again
 *     .isolde/tmp/, .isolde/lock   only while something is written
 *
 * 1. A change is made under the lock (`folder-lock.ts`): two hunts on one store wait for each other.
 * 2. A new bug is written into `tmp/`, flushed, and renamed into place as a whole; a change replaces one file by renaming.
 *    A kill leaves either the old state or the new one, and rubbish in `tmp/` that the next writer removes. Before it gets its
 *    place it is read back: what cannot be read again is not kept.
 * 3. A bug with the same engine and signature is the same bug: its count grows, nothing else is written but the run.
 */
import { join, resolve } from 'node:path';
import { signatureVersion } from '../dedupe/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { type LockOptions, withLock } from '../folder-lock.js';
import { checkFormat, parseJson } from '../json.js';
import { type Bug, makeBug, type VersionTried } from '../report/index.js';
import { type BugRecord, parseRecord, parseSignedRecord, printRun, type RunLine } from './bug-file.js';
import { changingFiles, checkHome, fileNames, readBug, readStoredBug } from './bug-folder.js';
import {
  type Added,
  type AddOptions,
  addVariants,
  type BugList,
  type BugStore,
  checkId,
  firstRuns,
  foundLine,
  isListed,
  joined,
  lastSeenFirst,
  nameFits,
  type OlderName,
  onlyOne,
  seenAgain,
  UnreadableBug,
} from './bug-store.js';
import { exportBug, writeBugFolder } from './export-bug.js';
import { diskFiles, exists, namesIn, readText, type StoreFiles } from './files.js';
import { type ForeignOptions, readForeignBugs } from './foreign-bugs.js';
import { type Ignored, parseIgnored, printIgnored, withIgnored } from './ignore-file.js';
import { isSharedUrl } from './shared/shared-database.js';

const storeFormat = 'isolde-store';
const storeVersion = 1;

export interface StoreOptions extends LockOptions {
  readonly files?: StoreFiles;
  /** Now, ISO 8601; for what is written when something is ignored. */
  readonly now?: () => string;
}

/** Opens a store. It need not exist yet: the first change makes it. */
export async function openStore(folder = '.isolde', options: StoreOptions = {}): Promise<Store> {
  if (isSharedUrl(folder)) {
    throw new IsoldeError(
      'usage',
      'this needs a store in a folder; isolde bugs and isolde fleet work on one in PostgreSQL',
    );
  }
  const file = join(folder, 'store.json');
  const text = await readText(file);
  if (text === undefined) {
    if ((await namesIn(join(folder, 'bugs'))).length > 0) {
      throw new IsoldeError(
        'bad-file',
        `${folder} holds bugs but no store.json, so it is older than this Isolde reads (format ${storeVersion}); move it away, or import its bugs one by one`,
      );
    }
  } else {
    const node = parseJson(text, file);
    checkFormat(node, storeFormat, storeVersion);
  }
  return new Store(resolve(folder), options);
}

export class Store implements BugStore {
  readonly #files: StoreFiles;
  #counter = 0;
  #older: Promise<readonly OlderName[]> | undefined;

  /** @internal */
  constructor(
    readonly folder: string,
    private readonly options: StoreOptions,
  ) {
    this.#files = options.files ?? diskFiles;
  }

  get place(): string {
    return this.folder;
  }

  /** Puts a bug in, or counts it when it is there already. */
  async add(bug: Bug, options: AddOptions = {}): Promise<Added> {
    checkId(bug.id);
    return this.#change(async () => {
      const id = await this.#homeOf(bug.id);
      if (id === undefined) {
        await this.#create({ ...bug, variants: addVariants([], bug) }, options);
        return { id: bug.id, isNew: true, count: bug.count };
      }
      const known = await readStoredBug(this.folderOf(id)).catch((error: unknown) => unreadable(error));
      if (known === undefined) {
        // What nobody can read must not stop the bug from being kept; it is put aside, not removed.
        await this.#setAside(id);
        await this.#create({ ...bug, variants: addVariants([], bug) }, options);
        return { id: bug.id, isNew: true, count: bug.count };
      }
      const again = options.imported === true ? joined(known, bug) : seenAgain(known, bug);
      await this.#replace(again);
      if (options.imported !== true) await this.#appendRun(id, foundLine(bug));
      return { id, isNew: false, count: again.count };
    });
  }

  /** Every bug, the last seen first. */
  async list(): Promise<BugList> {
    const bugs: BugRecord[] = [];
    const problems: string[] = [];
    for (const id of await namesIn(join(this.folder, 'bugs'))) {
      const file = join(this.folderOf(id), fileNames.record);
      try {
        const text = await readText(file);
        if (text === undefined) problems.push(`${this.folderOf(id)} has no ${fileNames.record}`);
        else {
          const record = parseRecord(text, file);
          checkHome(record, this.folderOf(id));
          bugs.push(record);
        }
      } catch (error) {
        problems.push(errorText(error));
      }
    }
    bugs.sort(lastSeenFirst);
    return { bugs, problems };
  }

  /** The bug of that id, signature, or beginning of an id. */
  async get(name: string): Promise<Bug> {
    const ids = await namesIn(join(this.folder, 'bugs'));
    const exact = ids.find((id) => id === name);
    if (exact !== undefined) return readStoredBug(this.folderOf(exact));
    const fitting = ids.filter((id) => nameFits(name, id));
    const named =
      fitting.length > 0
        ? fitting
        : (await this.list()).bugs.filter(({ signature }) => signature === name).map(({ id }) => id);
    return readStoredBug(this.folderOf(onlyOne(named, name, this.folder)));
  }

  folderOf(id: string): string {
    return join(this.folder, 'bugs', id);
  }

  /** Writes down that a bug was tried on a target, and what came of it. */
  async recordRun(id: string, run: VersionTried): Promise<void> {
    checkId(id);
    await this.#change(async () => {
      const known = await readStoredBug(this.folderOf(id));
      await this.#appendRun(id, { kind: 'rerun', ...run });
      await this.#replace({ ...known, versions: [...known.versions, run] });
    });
  }

  /** Makes hunts pass over a bug or a signature. */
  async ignore(what: string, reason?: string): Promise<void> {
    const since = (this.options.now ?? (() => new Date().toISOString()))();
    await this.#change(async () => {
      const list = withIgnored(await this.ignored(), {
        what,
        since,
        ...(reason !== undefined && { reason }),
      });
      await this.#writeOver('ignore.json', printIgnored(list));
    });
  }

  async unignore(what: string): Promise<boolean> {
    let found = false;
    await this.#change(async () => {
      const list = await this.ignored();
      const left = list.filter((entry) => entry.what !== what);
      found = left.length < list.length;
      if (found) await this.#writeOver('ignore.json', printIgnored(left));
    });
    return found;
  }

  async ignored(): Promise<readonly Ignored[]> {
    const file = join(this.folder, 'ignore.json');
    const text = await readText(file);
    return text === undefined ? [] : parseIgnored(text, file);
  }

  /** Whether a bug is to be passed over, by its id or its signature. */
  async isIgnored(bug: Pick<Bug, 'id' | 'signature'>): Promise<boolean> {
    return isListed(bug, await this.ignored(), () => this.#olderNames());
  }

  /** Copies a bug's folder to `into/<id>`, which must not exist. */
  async exportTo(name: string, into: string): Promise<string> {
    const bug = await this.get(name);
    const raw = join(this.folderOf(bug.id), fileNames.raw);
    const runs = (await readText(join(this.folderOf(bug.id), fileNames.runs))) ?? '';
    return exportBug({ bug, runs, ...((await exists(raw)) && { raw }) }, into, this.#files);
  }

  /**
   * Takes in a bug's folder, or every bug of a folder of such folders (another store's `bugs/`, or the store). Nothing in
   * it is run, and nothing but data is taken over: names, signatures, reports and exports are made anew. SQL that is not on
   * the allow-list is refused, unless the user vouches for it. One of several that cannot be taken in is reported and left out.
   */
  async importFrom(folder: string, options: ForeignOptions = {}): Promise<Added[]> {
    const bugs = await readForeignBugs(folder, options);
    const added: Added[] = [];
    for (const { bug, raw, runs } of bugs) {
      const from = raw === undefined ? {} : { raw: { file: raw } };
      added.push(await this.add(bug, { imported: true, runs, ...from }));
    }
    return added;
  }

  async close(): Promise<void> {}

  /** The folder of a bug: its id, or the one under which an older release kept it. */
  async #homeOf(id: string): Promise<string | undefined> {
    if (await exists(this.folderOf(id))) return id;
    return (await this.#olderNames()).find(({ now }) => now === id)?.id;
  }

  /** Bugs whose signature an older release computed in another way, with the id they would have today. */
  async #olderNames(): Promise<readonly OlderName[]> {
    this.#older ??= this.#readOlderNames();
    return this.#older;
  }

  async #readOlderNames(): Promise<readonly OlderName[]> {
    const older: OlderName[] = [];
    for (const name of await namesIn(join(this.folder, 'bugs'))) {
      if (await this.#isSignedAsToday(name)) continue;
      // What cannot be read is reported by `list`; it is nobody's home.
      const bug = await readStoredBug(this.folderOf(name)).catch(() => undefined);
      if (bug === undefined) continue;
      const now = makeBug({ ...bug, at: bug.firstSeen });
      if (now.signature !== bug.signature) older.push({ id: name, signature: bug.signature, now: now.id });
    }
    return older;
  }

  /** Then its record alone says that its name is no older one: a store of thousands is not read as a whole. */
  async #isSignedAsToday(name: string): Promise<boolean> {
    const file = join(this.folderOf(name), fileNames.record);
    try {
      return parseSignedRecord((await readText(file)) ?? '', file).signedBy === signatureVersion;
    } catch {
      return false;
    }
  }

  /** Makes a change: the store exists, nobody else changes it, and what a dead writer left is gone. */
  async #change<T>(work: () => Promise<T>): Promise<T> {
    try {
      await this.#files.makeFolder(this.#temporary);
    } catch (error) {
      throw fileProblem('write', this.folder, error);
    }
    return withLock(this.folder, this.options, async () => {
      try {
        for (const name of await namesIn(this.#temporary))
          await this.#files.remove(join(this.#temporary, name));
        if (!(await exists(join(this.folder, 'store.json')))) {
          const head = { format: storeFormat, version: storeVersion };
          await this.#writeOver('store.json', `${JSON.stringify(head, null, 2)}\n`);
        }
        await this.#files.makeFolder(join(this.folder, 'bugs'));
        return await work();
      } catch (error) {
        throw fileProblem('write', this.folder, error);
      }
    });
  }

  get #temporary(): string {
    return join(this.folder, 'tmp');
  }

  async #create(bug: Bug, { raw, runs }: AddOptions): Promise<void> {
    const temporary = join(this.#temporary, `${bug.id}.${process.pid}.${this.#counter++}`);
    await writeBugFolder(this.#files, temporary, bug, async () => {
      const path = join(temporary, fileNames.raw);
      if (raw !== undefined && 'file' in raw) await this.#files.copy(raw.file, path);
      else if (raw !== undefined) await this.#files.writeHistory(path, raw);
      const lines = firstRuns(bug, runs).map(printRun);
      await this.#files.write(join(temporary, fileNames.runs), lines.join(''));
    });
    await this.#readBack(temporary, bug.id);
    await this.#files.rename(temporary, this.folderOf(bug.id));
    await this.#files.syncFolder(join(this.folder, 'bugs'));
  }

  async #readBack(folder: string, id: string): Promise<void> {
    try {
      await readBug(folder);
    } catch (error) {
      await this.#files.remove(folder);
      throw new UnreadableBug(`the bug ${id} was not kept: it cannot be read back: ${errorText(error)}`, {
        cause: error,
      });
    }
  }

  async #setAside(id: string): Promise<void> {
    const aside = join(this.folder, 'unreadable');
    await this.#files.makeFolder(aside);
    const taken = new Set(await namesIn(aside));
    let number = 1;
    while (taken.has(`${id}.${number}`)) number++;
    await this.#files.rename(this.folderOf(id), join(aside, `${id}.${number}`));
  }

  async #replace(bug: Bug): Promise<void> {
    for (const { name, text } of changingFiles(bug)) await this.#writeOver(join('bugs', bug.id, name), text);
  }

  async #writeOver(name: string, text: string): Promise<void> {
    const temporary = join(this.#temporary, `file.${process.pid}.${this.#counter++}`);
    await this.#files.write(temporary, text);
    await this.#files.rename(temporary, join(this.folder, name));
  }

  async #appendRun(id: string, run: RunLine): Promise<void> {
    await this.#files.append(join(this.folderOf(id), fileNames.runs), printRun(run));
  }
}

/** Nothing, for a bug whose files are broken; what has another reason is thrown on. */
function unreadable(error: unknown): undefined {
  if (error instanceof IsoldeError && error.code === 'bad-file') return undefined;
  throw error;
}
