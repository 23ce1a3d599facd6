/**
 * Reads a history whatever its format: looks at the first bytes (or the names in a folder), unpacks what is
 * packed, and hands it to its reader.
 *
 * 1. A tar archive is unpacked into a temporary folder of ours, which is removed again whatever happens.
 * 2. A folder is tried as it is; if no format knows it, the folders inside are, down to four levels; last, a
 *    single file inside (`history.edn` in a Jepsen run's folder) is taken.
 * 3. A file is recognized by its content. The name is never asked.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, FileError, IsoldeError } from '../../errors.js';
import type { TemporaryFolder } from '../../temporary-folder.js';
import { bytesOf, compressionOf, headOf } from '../bytes.js';
import {
  type FormatInput,
  type FormatName,
  formatNames,
  type HistoryFormat,
  type Imported,
} from './format.js';
import { looksLikeTar } from './recognize.js';
import { historyFormats } from './registry.js';

export interface ReadAnyOptions {
  /** Takes it for this format, whatever it looks like. */
  readonly format?: FormatName;
  /** Called now and then with the bytes read so far, after decompression. */
  readonly onProgress?: (bytes: number) => void;
  /** Bytes that may come out of a compressed file or an archive; 64 GB unless told. */
  readonly maxBytes?: number;
}

export type AnyHistory = Imported & { readonly format: FormatName };

const headBytes = 64 * 1024;
const maxDepth = 4;

/** Reads the history in a file or folder; `-` is standard input. */
export async function readAnyHistory(path: string, options: ReadAnyOptions = {}): Promise<AnyHistory> {
  return withFound(path, options, async (found) => {
    let bytes = 0;
    const { onProgress } = options;
    const imported = await found.format.read(
      inputOf(found, options, (count) => {
        bytes += count;
        onProgress?.(bytes);
      }),
    );
    return { ...imported, format: found.format.name };
  });
}

/** The format of a file or folder. */
export async function recognizeFormat(path: string, options: ReadAnyOptions = {}): Promise<FormatName> {
  return withFound(path, options, async (found) => found.format.name);
}

/** The histories in a folder that holds several, by their paths; anything else is one, and stands for itself. */
export async function historiesIn(path: string, options: ReadAnyOptions = {}): Promise<readonly string[]> {
  const isFolder = path !== '-' && (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder) return [path];
  const wanted = historyFormats.filter(({ name }) => options.format === undefined || name === options.format);
  try {
    await findInFolder(path, path, wanted, options.format);
  } catch (thrown) {
    if (thrown instanceof SeveralHistories) return thrown.paths;
    // Whoever reads it says what is wrong.
    if (!(thrown instanceof IsoldeError)) throw thrown;
  }
  return [path];
}

/** A folder holds more than one. */
class SeveralHistories extends FileError {
  constructor(
    file: string,
    readonly paths: readonly string[],
  ) {
    super({ file }, `it holds ${paths.length} histories; name one: ${paths.slice(0, 3).join(', ')}`);
  }
}

/** A format from its name on the command line. */
export function parseFormatName(text: string): FormatName {
  const name = formatNames.find((each) => each === text.toLowerCase());
  if (name !== undefined) return name;
  throw new IsoldeError('usage', `there is no format "${text}"; there are ${formatNames.join(', ')}`);
}

interface Found {
  readonly format: HistoryFormat;
  readonly path: string;
  readonly shown: string;
  readonly entries?: readonly string[];
}

async function withFound<T>(
  path: string,
  options: ReadAnyOptions,
  use: (found: Found) => Promise<T>,
): Promise<T> {
  const temporary: TemporaryFolder[] = [];
  const newFolder = async (): Promise<string> => {
    const { makeTemporaryFolder } = await import('../../temporary-folder.js');
    const folder = await makeTemporaryFolder('import');
    temporary.push(folder);
    return folder.path;
  };
  try {
    return await use(await find(path, options, newFolder));
  } catch (thrown) {
    if (thrown instanceof IsoldeError) throw thrown;
    throw new IsoldeError('file-system', `cannot read ${path}: ${errorText(thrown)}`, { cause: thrown });
  } finally {
    for (const folder of temporary) await folder.remove();
  }
}

async function find(
  given: string,
  options: ReadAnyOptions,
  newFolder: () => Promise<string>,
): Promise<Found> {
  const wanted = historyFormats.filter(({ name }) => options.format === undefined || name === options.format);
  const shown = given === '-' ? 'standard input' : given;
  let path = given === '-' ? '/dev/stdin' : given;
  const info = await stat(path).catch((cause: unknown) => {
    throw new IsoldeError('file-system', `cannot read ${shown}: ${errorText(cause)}`, { cause });
  });
  if (given !== '-' && (info.isCharacterDevice() || info.isBlockDevice()) && path !== '/dev/stdin')
    throw new IsoldeError('bad-file', `${shown} is a device, and may never end; - reads standard input`);
  if (info.isDirectory()) return findInFolder(path, shown, wanted, options.format);
  const fitting = (head: Buffer): HistoryFormat | undefined =>
    options.format === undefined ? wanted.find((each) => each.fitsFile(head)) : wanted[0];
  const keepUnpacked = async (judge: (head: Buffer) => void): Promise<string> => {
    const { spool } = await import('./spool.js');
    return spool(bytesOf(path, { shown, ...limits(options) }), {
      ...{ shown, headBytes, judge, maxBytes: options.maxBytes },
      file: async () => join(await newFolder(), 'history'),
    });
  };
  // A pipe can be read only once, and a format is looked at before it is read.
  if (!info.isFile()) {
    path = await keepUnpacked((head) => {
      if (compressionOf(head) === 'none' && !looksLikeTar(head) && fitting(head) === undefined)
        throw new UnknownFormatError(shown);
    });
  }
  const head = await headOf(path, headBytes, shown);
  if (looksLikeTar(head)) {
    const folder = await newFolder();
    const { unpackTar } = await import('./tar.js');
    await unpackTar(bytesOf(path, { shown, ...limits(options) }), folder, shown);
    return findInFolder(folder, shown, wanted, options.format);
  }
  const format = fitting(head);
  if (format === undefined) throw new UnknownFormatError(shown);
  return { format, path, shown };
}

async function findInFolder(
  top: string,
  shownTop: string,
  formats: readonly HistoryFormat[],
  asked: FormatName | undefined,
): Promise<Found> {
  const files: { readonly path: string; readonly shown: string }[] = [];
  let level = [{ path: top, shown: shownTop }];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth++) {
    const next: typeof level = [];
    for (const { path, shown } of level) {
      const listed = await readdir(path, { withFileTypes: true });
      const entries = listed.map((entry) => entry.name);
      const format = formats.find((each) => each.fitsFolder?.(entries) === true);
      if (format !== undefined) return { format, path, shown, entries };
      for (const entry of listed) {
        const inside = { path: join(path, entry.name), shown: `${shown}/${entry.name}` };
        if (entry.isDirectory()) next.push(inside);
        else if (entry.isFile()) files.push(inside);
      }
    }
    level = next.slice(0, 1000);
  }
  return findAmongFiles(files, shownTop, formats, asked);
}

/** The one history among the files of a folder; a Jepsen run keeps `history.edn` beside much else. */
async function findAmongFiles(
  files: readonly { readonly path: string; readonly shown: string }[],
  shownTop: string,
  formats: readonly HistoryFormat[],
  asked: FormatName | undefined,
): Promise<Found> {
  const named = files.filter(({ path }) => /[/\\]history\.(edn|jsonl?)(\.gz)?$/.test(path));
  const fitting: Found[] = [];
  for (const file of (named.length > 0 ? named : files).slice(0, 1000)) {
    const head = await headOf(file.path, headBytes, file.shown);
    const format = formats.find((each) => each.fitsFile(head));
    if (format !== undefined) fitting.push({ format, ...file });
  }
  if (fitting.length === 1) return fitting[0]!;
  if (fitting.length > 1) throw new SeveralHistories(shownTop, fitting.map(({ shown }) => shown).sort());
  throw asked === undefined
    ? new UnknownFormatError(shownTop)
    : new FileError({ file: shownTop }, `nothing in it looks like the format ${asked}`);
}

function inputOf(found: Found, options: ReadAnyOptions, onBytes: (count: number) => void): FormatInput {
  return {
    path: found.path,
    shown: found.shown,
    ...(found.entries !== undefined && { entries: found.entries }),
    bytes: (entry, blockBytes) =>
      bytesOf(entry === undefined ? found.path : join(found.path, entry), {
        shown: entry === undefined ? found.shown : `${found.shown}/${entry}`,
        onBytes,
        ...(blockBytes !== undefined && { blockBytes }),
        ...limits(options),
      }),
  };
}

function limits(options: ReadAnyOptions): { readonly maxBytes?: number } {
  return options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes };
}

/** A file that no format recognises as its own. */
export class UnknownFormatError extends FileError {
  constructor(path: string) {
    const known = historyFormats.map(({ name, title }) => `${name} (${title})`).join(', ');
    super(
      { file: path },
      `it looks like none of the formats that are read: ${known}; --format NAME takes it for one of them`,
    );
  }
}
