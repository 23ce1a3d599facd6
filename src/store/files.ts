/**
 * The few things the store does with files, each safe against a kill in the middle: a file is written under another name,
 * flushed to the disk and then renamed, so that under its own name it is always whole. Passed in, so that tests can let
 * the disk fill up or the process die between any two of them.
 */
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { IsoldeError } from '../errors.js';
import { codeOf, fileProblem } from '../file-problem.js';
import { type History, writeWholeHistory } from '../histories/index.js';

export interface StoreFiles {
  /** Writes a new file and flushes it. */
  write(path: string, text: string): Promise<void>;
  writeHistory(path: string, history: History): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  /** Adds whole lines to the end of a file; a line that was cut off there before is closed first. */
  append(path: string, text: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Flushes the names inside a folder. */
  syncFolder(path: string): Promise<void>;
  /** Removes a file or a folder with all in it; no error if there is none. */
  remove(path: string): Promise<void>;
}

export const diskFiles: StoreFiles = {
  async write(path, text) {
    const file = await open(path, 'wx', 0o644);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  async writeHistory(path, history) {
    await writeWholeHistory(path, history);
    await syncFile(path);
  },
  async copy(from, to) {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await syncFile(to);
  },
  async append(path, text) {
    const file = await open(path, 'a+', 0o644);
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      await file.appendFile(size > 0 && last.toString() !== '\n' ? `\n${text}` : text);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  rename,
  async makeFolder(path) {
    await mkdir(path, { recursive: true });
  },
  syncFolder: syncFile,
  async remove(path) {
    await rm(path, { recursive: true, force: true });
  },
};

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The names in a folder; none if there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileProblem('read', folder, error);
  }
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** What a file of a bug may hold that is read as a whole, after decompression. */
export const mostBytes = 64 * 1024 * 1024;

/** The text of a file, or undefined if there is none. Links and devices are refused: folders come from strangers. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    const about = await lstat(path);
    if (!about.isFile()) throw new IsoldeError('bad-file', `${path} is not a plain file`);
    if (about.size > mostBytes)
      throw new IsoldeError('bad-file', `${path} is larger than ${mostBytes} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof IsoldeError) throw error;
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw fileProblem('read', path, error);
  }
}
