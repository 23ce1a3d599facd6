/**
 * A store in tables that many machines share (`shared-tables.ts`).
 *
 * What is read is untrusted, as a folder is, and read by the same reader: a bug's files are written into a temporary folder and read
 * there. What is written was read back before (`packBug`), by the same rule as in a folder.
 *
 * Exactly one entry a bug: the row is inserted, or, where engine and signature are there already, locked and counted up, in one
 * transaction. `addPacked` does it inside a transaction of the caller's, so that a worker's results and the end of its job are one change.
 * Callers add several bugs in the order of their ids: two that lock the same rows do so in the same order.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printCaseFile } from '../../cases/index.js';
import { signatureVersion } from '../../dedupe/index.js';
import { errorText, IsoldeError } from '../../errors.js';
import { writeWholeHistory } from '../../histories/index.js';
import { type Bug, makeBug, type VersionTried } from '../../report/index.js';
import { makeTemporaryFolder } from '../../temporary-folder.js';
import {
  type BugRecord,
  parseRecord,
  parseRuns,
  parseSignedRecord,
  printRecord,
  printRun,
  recordOf,
} from '../bug-file.js';
import { fileNames, readBug, signedBy } from '../bug-folder.js';
import {
  type Added,
  type AddOptions,
  addVariants,
  type BugList,
  type BugStore,
  checkId,
  firstRuns,
  isListed,
  joined,
  lastSeenFirst,
  nameFits,
  type OlderName,
  onlyOne,
  seenAgain,
  UnreadableBug,
} from '../bug-store.js';
import { exportBug } from '../export-bug.js';
import { diskFiles, mostBytes } from '../files.js';
import { printFinding } from '../finding-file.js';
import { type ForeignOptions, readForeignBugs } from '../foreign-bugs.js';
import type { Ignored } from '../ignore-file.js';
import { SharedDatabase, type SharedDatabaseOptions, type Sql } from './shared-database.js';
import { prepareTables, storeTables } from './shared-tables.js';

/** A bug as rows: checked, and ready to be inserted. */
export interface PackedBug {
  readonly id: string;
  readonly engine: string;
  readonly signature: string;
  readonly signedBy: number | null;
  /** The text of bug.json. */
  readonly record: string;
  readonly files: readonly { readonly name: string; readonly content: Uint8Array }[];
  /** Lines of runs.jsonl; the first says that it was found. */
  readonly runs: readonly string[];
}

const dataFiles = [fileNames.case, fileNames.finding, fileNames.history, fileNames.raw] as const;

/** Makes rows of a bug. It is written as a folder and read back first: what cannot be read again is not kept. */
export async function packBug(bug: Bug, { raw, runs }: AddOptions = {}): Promise<PackedBug> {
  checkId(bug.id);
  const folder = await makeTemporaryFolder('shared');
  const path = (name: string) => join(folder.path, name);
  try {
    const kept = { ...bug, variants: addVariants([], bug) };
    const record = printRecord(recordOf(kept), signedBy(kept));
    await writeFile(path(fileNames.record), record);
    await writeFile(path(fileNames.case), printCaseFile(bug));
    await writeFile(path(fileNames.finding), printFinding(bug.finding));
    await writeWholeHistory(path(fileNames.history), bug.history);
    if (raw !== undefined && 'file' in raw) await diskFiles.copy(raw.file, path(fileNames.raw));
    else if (raw !== undefined) await writeWholeHistory(path(fileNames.raw), raw);
    await readBug(folder.path).catch((error: unknown) => {
      throw new UnreadableBug(`the bug ${bug.id} was not kept: it cannot be read back: ${errorText(error)}`, {
        cause: error,
      });
    });
    return {
      id: bug.id,
      engine: engineOf(bug),
      signature: bug.signature,
      signedBy: signedBy(kept) ?? null,
      record,
      files: await readData(path),
      runs: firstRuns(bug, runs).map((run) => printRun(run).trimEnd()),
    };
  } finally {
    await folder.remove();
  }
}

/** The same bug found once more before it was added. */
export function countUp(packed: PackedBug, bug: Bug): PackedBug {
  const { record, signedBy: version } = parseSignedRecord(packed.record, packed.id);
  return { ...packed, record: printRecord(seenAgain(record, recordOf(bug)), version) };
}

async function readData(path: (name: string) => string): Promise<PackedBug['files']> {
  const files: { name: string; content: Uint8Array }[] = [];
  for (const name of dataFiles) {
    const about = await stat(path(name)).catch(() => undefined);
    // A raw history that is too large for a row is left out: the seed brings it back.
    if (about === undefined || (name === fileNames.raw && about.size > mostBytes)) continue;
    files.push({ name, content: await readFile(path(name)) });
  }
  return files;
}

/** An engine with an injected fault is another engine, as in a bug's id. */
function engineOf({ target }: Pick<Bug, 'target'>): string {
  return JSON.stringify([target.name, target.settings?.fault ?? null]);
}

/** Inserts a bug, or counts it where it is already. Part of the caller's transaction. */
export async function addPacked(sql: Sql, bug: PackedBug, imported = false): Promise<Added> {
  const inserted = await sql.query(
    `INSERT INTO isolde_shared.bugs (id, engine, signature, signed_by, record) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING RETURNING id`,
    [bug.id, bug.engine, bug.signature, bug.signedBy, bug.record],
  );
  const found = parseRecord(bug.record, bug.id);
  if (inserted.length > 0) {
    await writeFiles(sql, bug.id, bug.files);
    for (const line of bug.runs) await addRun(sql, bug.id, line);
    return { id: bug.id, isNew: true, count: found.count };
  }
  const [row] = await sql.query<Row>(
    `SELECT id, record, signed_by FROM isolde_shared.bugs
     WHERE id = $1 OR (engine = $2 AND signature = $3) ORDER BY id = $1 DESC LIMIT 1 FOR UPDATE`,
    [bug.id, bug.engine, bug.signature],
  );
  if (row === undefined)
    throw new IsoldeError('target', `the bug ${bug.id} is neither there nor can be added`);
  const known = readableRecord(row);
  // What nobody can read must not stop the bug from being kept.
  if (known === undefined || !(await isReadable(sql, row))) await writeFiles(sql, row.id, bug.files);
  const add = imported ? joined : seenAgain;
  const again = known === undefined ? { ...found, id: row.id } : add(known, found);
  await sql.query('UPDATE isolde_shared.bugs SET record = $2 WHERE id = $1', [
    row.id,
    printRecord(again, row.signed_by ?? undefined),
  ]);
  if (!imported) await addRun(sql, row.id, bug.runs[0]!);
  return { id: row.id, isNew: false, count: again.count };
}

async function writeFiles(sql: Sql, bug: string, files: PackedBug['files']): Promise<void> {
  for (const { name, content } of files) {
    await sql.query(
      `INSERT INTO isolde_shared.bug_files VALUES ($1, $2, $3)
       ON CONFLICT (bug, name) DO UPDATE SET content = excluded.content`,
      [bug, name, Buffer.from(content)],
    );
  }
}

/** Whether all of a bug can be read that has a good record. */
async function isReadable(sql: Sql, row: Row): Promise<boolean> {
  return unpacked(sql, { ...row, place: 'the store' }, (folder) => readBug(folder)).then(
    () => true,
    (error: unknown) => {
      if (error instanceof IsoldeError) return false;
      throw error;
    },
  );
}

/** A bug's data as a folder that exists while `use` runs. */
async function unpacked<T>(
  sql: Sql,
  { id, record, place }: Pick<Row, 'id' | 'record'> & { readonly place: string },
  use: (folder: string, files: readonly string[]) => Promise<T>,
): Promise<T> {
  const files = await sql.query<{ name: string; content: Buffer }>(
    `SELECT name, content FROM isolde_shared.bug_files
     WHERE bug = $1 AND name = ANY($2) AND octet_length(content) <= $3`,
    [id, [...dataFiles], mostBytes],
  );
  const runs = await sql.query<{ line: string }>(
    'SELECT line FROM isolde_shared.bug_runs WHERE bug = $1 ORDER BY number',
    [id],
  );
  const folder = await makeTemporaryFolder('shared');
  try {
    // The names are ours: they were asked for.
    for (const { name, content } of files) await writeFile(join(folder.path, name), content);
    await writeFile(join(folder.path, fileNames.record), record);
    const lines = runs.map(({ line }) => `${line}\n`).join('');
    parseRuns(lines, `runs of ${id} in ${place}`);
    await writeFile(join(folder.path, fileNames.runs), lines);
    return await use(
      folder.path,
      files.map(({ name }) => name),
    );
  } finally {
    await folder.remove();
  }
}

function readableRecord({ id, record }: Row): BugRecord | undefined {
  try {
    const parsed = parseRecord(record, id);
    return parsed.id === id ? parsed : undefined;
  } catch {
    return undefined;
  }
}

async function addRun(sql: Sql, bug: string, line: string): Promise<void> {
  await sql.query('INSERT INTO isolde_shared.bug_runs (bug, line) VALUES ($1, $2)', [bug, line]);
}

/** Writes down that a bug was tried on a target, and what came of it. May be part of the caller's transaction. */
export async function addTried(sql: Sql, bug: string, run: VersionTried): Promise<void> {
  checkId(bug);
  await addRun(sql, bug, printRun({ kind: 'rerun', ...run }).trimEnd());
}

export class SharedStore implements BugStore {
  #older: Promise<readonly OlderName[]> | undefined;

  constructor(
    private readonly database: SharedDatabase,
    private readonly now: () => string = () => new Date().toISOString(),
  ) {}

  /** Opens the store of a database, and makes its tables if there are none. */
  static async open(url: string, options: SharedDatabaseOptions = {}): Promise<SharedStore> {
    const database = await SharedDatabase.open(url, options);
    try {
      await prepareTables(database, storeTables);
    } catch (error) {
      await database.close();
      throw error;
    }
    return new SharedStore(database);
  }

  get place(): string {
    return this.database.shown;
  }

  folderOf(id: string): string {
    return `isolde bugs show ${id} --store ${this.place}`;
  }

  async add(bug: Bug, options: AddOptions = {}): Promise<Added> {
    const packed = await packBug(bug, options);
    const older = (await this.#olderNames()).find(({ now }) => now === bug.id);
    const [row] = older === undefined ? [] : await this.#rows([older.id]);
    const home = row === undefined ? packed : { ...packed, id: row.id };
    return this.database.transaction((sql) => addPacked(sql, home, options.imported));
  }

  async list(): Promise<BugList> {
    const bugs: BugRecord[] = [];
    const problems: string[] = [];
    for (const row of await this.#rows()) {
      try {
        bugs.push(this.#record(row));
      } catch (error) {
        problems.push(errorText(error));
      }
    }
    return { bugs: bugs.sort(lastSeenFirst), problems };
  }

  async get(name: string): Promise<Bug> {
    return this.#withFolder(await this.#idOf(name), (folder) => readBug(folder));
  }

  async recordRun(id: string, run: VersionTried): Promise<void> {
    await addTried(this.database, id, run);
  }

  async ignore(what: string, reason?: string): Promise<void> {
    await this.database.query(
      `INSERT INTO isolde_shared.ignored VALUES ($1, $2, $3)
       ON CONFLICT (what) DO UPDATE SET since = excluded.since, reason = excluded.reason`,
      [what, this.now(), reason ?? null],
    );
  }

  async unignore(what: string): Promise<boolean> {
    const rows = await this.database.query(
      'DELETE FROM isolde_shared.ignored WHERE what = $1 RETURNING what',
      [what],
    );
    return rows.length > 0;
  }

  async ignored(): Promise<readonly Ignored[]> {
    const rows = await this.database.query<{ what: string; since: string; reason: string | null }>(
      'SELECT what, since, reason FROM isolde_shared.ignored ORDER BY what',
    );
    return rows.map(({ what, since, reason }) => ({ what, since, ...(reason !== null && { reason }) }));
  }

  async isIgnored(bug: Pick<Bug, 'id' | 'signature'>): Promise<boolean> {
    return isListed(bug, await this.ignored(), () => this.#olderNames());
  }

  async exportTo(name: string, into: string): Promise<string> {
    return this.#withFolder(await this.#idOf(name), async (folder, files) => {
      const bug = await readBug(folder);
      const runs = await readFile(join(folder, fileNames.runs), 'utf8');
      const raw = files.includes(fileNames.raw) ? { raw: join(folder, fileNames.raw) } : {};
      return exportBug({ bug, runs, ...raw }, into, diskFiles);
    });
  }

  async importFrom(folder: string, options: ForeignOptions = {}): Promise<Added[]> {
    const added: Added[] = [];
    for (const { bug, raw, runs } of await readForeignBugs(folder, options)) {
      const from = raw === undefined ? {} : { raw: { file: raw } };
      added.push(await this.add(bug, { imported: true, runs, ...from }));
    }
    return added;
  }

  close(): Promise<void> {
    return this.database.close();
  }

  #rows(ids?: readonly string[]): Promise<readonly Row[]> {
    const where = ids === undefined ? '' : 'WHERE id = ANY($1)';
    return this.database.query<Row>(
      `SELECT id, signed_by, record FROM isolde_shared.bugs ${where} ORDER BY id`,
      ids === undefined ? [] : [ids],
    );
  }

  #record({ id, record }: Row): BugRecord {
    const parsed = parseRecord(record, `${id} in ${this.place}`);
    if (parsed.id === id) return parsed;
    throw new IsoldeError('bad-file', `${this.place}: the record of ${id} calls itself ${parsed.id}`);
  }

  async #idOf(name: string): Promise<string> {
    const rows = await this.#rows();
    const exact = rows.find(({ id }) => id === name);
    if (exact !== undefined) return exact.id;
    const fitting = rows.filter(({ id }) => nameFits(name, id)).map(({ id }) => id);
    const named =
      fitting.length > 0
        ? fitting
        : (await this.list()).bugs.filter(({ signature }) => signature === name).map(({ id }) => id);
    return onlyOne(named, name, this.place);
  }

  /** A bug's data as a folder that exists while `use` runs. */
  async #withFolder<T>(
    id: string,
    use: (folder: string, files: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const [row] = await this.#rows([id]);
    if (row === undefined) return onlyOne([], id, this.place) as never;
    this.#record(row);
    return unpacked(this.database, { ...row, place: this.place }, use);
  }

  /** Bugs whose signature an older release computed in another way, with the id they would have today. */
  #olderNames(): Promise<readonly OlderName[]> {
    this.#older ??= this.#readOlderNames();
    return this.#older;
  }

  async #readOlderNames(): Promise<readonly OlderName[]> {
    const older: OlderName[] = [];
    for (const { id, record } of await this.#rows()) {
      if (isSignedAsToday(record, id)) continue;
      const bug = await this.get(id).catch(() => undefined);
      if (bug === undefined) continue;
      const now = makeBug({ ...bug, at: bug.firstSeen });
      if (now.signature !== bug.signature) older.push({ id, signature: bug.signature, now: now.id });
    }
    return older;
  }
}

interface Row {
  readonly id: string;
  readonly signed_by: number | null;
  readonly record: string;
}

function isSignedAsToday(record: string, id: string): boolean {
  try {
    return parseSignedRecord(record, id).signedBy === signatureVersion;
  } catch {
    return false;
  }
}
