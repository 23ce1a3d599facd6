/**
 * Unpacks a tar archive into a folder of ours. Written here and not left to the system's `tar`, because an archive
 * is somebody else's data: only plain files and folders are made, only below the folder, never through
 * a link, and never more bytes than the limit. Everything else in an archive (links, devices) is passed over.
 *
 * Understands ustar, GNU long names and pax paths and sizes.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileError } from '../../errors.js';

const recordBytes = 512;
const maxFiles = 100_000;
const maxNameBytes = 64 * 1024;

/** Unpacks all files of the archive below `into`, which must exist and be empty. */
export async function unpackTar(blocks: AsyncIterable<Buffer>, into: string, shown: string): Promise<void> {
  const source = new Records(blocks, shown);
  try {
    await unpackAll(source, into, shown);
  } finally {
    await source.close();
  }
}

async function unpackAll(source: Records, into: string, shown: string): Promise<void> {
  let files = 0;
  let next: { path?: string; size?: number } = {};
  for (;;) {
    const header = await source.take(recordBytes);
    if (header === undefined || header.every((byte) => byte === 0)) return;
    const entry = parseHeader(header, shown);
    const size = next.size ?? entry.size;
    switch (entry.type) {
      case 'x':
      case 'L': {
        if (size > maxNameBytes) throw damaged(shown, `a name of ${size} bytes`);
        const text = ((await source.take(size)) ?? Buffer.alloc(0)).toString('utf8');
        next =
          entry.type === 'L'
            ? { ...next, path: text.replace(/\0.*$/s, '') }
            : { ...next, ...paxFields(text) };
        await source.pad(size);
        continue;
      }
      case '0': {
        if (++files > maxFiles) throw damaged(shown, `more than ${maxFiles} files`);
        const path = safePath(next.path ?? entry.path);
        if (path === undefined) await source.skip(size);
        else await writeFile(source, size, await openFile(into, path, shown));
        break;
      }
      default:
        await source.skip(size);
    }
    await source.pad(size);
    next = {};
  }
}

interface Entry {
  readonly path: string;
  readonly size: number;
  readonly type: string;
}

function parseHeader(header: Buffer, shown: string): Entry {
  let sum = 0;
  for (let i = 0; i < recordBytes; i++) sum += i >= 148 && i < 156 ? 32 : header[i]!;
  if (sum !== octal(header, 148, 8)) throw damaged(shown, 'a header whose checksum is wrong');
  const prefix = header.toString('latin1', 257, 262) === 'ustar' ? field(header, 345, 155) : '';
  const name = field(header, 0, 100);
  const size = octal(header, 124, 12);
  if (!Number.isSafeInteger(size) || size < 0) throw damaged(shown, 'a file whose size is no number');
  const type = header[156] === 0 || header[156] === 55 ? '0' : String.fromCharCode(header[156]!);
  // A GNU archive keeps other things where ustar has its prefix.
  const path = prefix !== '' && header[262] === 0 ? `${prefix}/${name}` : name;
  return { path, size: type === '1' || type === '2' ? 0 : size, type };
}

function octal(header: Buffer, from: number, length: number): number {
  // GNU writes sizes beyond 8 GB in binary, marked by the highest bit.
  if ((header[from]! & 0x80) !== 0) return header.readUIntBE(from + length - 6, 6);
  return Number.parseInt(field(header, from, length).trim() || '0', 8);
}

function field(header: Buffer, from: number, length: number): string {
  return header.toString('utf8', from, from + length).replace(/\0.*$/s, '');
}

/** `LENGTH KEY=VALUE\n` records; only those we need. */
function paxFields(text: string): { path?: string; size?: number } {
  const fields: { path?: string; size?: number } = {};
  for (const [, key, value] of text.matchAll(/\d+ ([^=\n]+)=([^\n]*)\n/g)) {
    if (key === 'path') fields.path = value!;
    else if (key === 'size' && /^\d{1,15}$/.test(value!)) fields.size = Number(value);
  }
  return fields;
}

/** The path below our folder, or undefined for one that leads out of it. */
function safePath(path: string): string | undefined {
  const parts = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || /^([/\\]|[A-Za-z]:)/.test(path)) return undefined;
  return parts.some((part) => part === '..' || part.length > 255) || parts.length > 50
    ? undefined
    : join(...parts);
}

/** Opens a file of the archive, whose folders are made. */
async function openFile(into: string, path: string, shown: string): Promise<FileHandle> {
  try {
    await mkdir(dirname(join(into, path)), { recursive: true });
    return await open(join(into, path), 'w');
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && code !== 'ENOTDIR' && code !== 'EISDIR') throw thrown;
    throw damaged(shown, `on the way to ${JSON.stringify(path)}, one name is a file and a folder`);
  }
}

async function writeFile(source: Records, size: number, file: FileHandle): Promise<void> {
  try {
    for (let rest = size; rest > 0; ) {
      const some = await source.some(rest);
      rest -= some.length;
      await file.write(some);
    }
  } finally {
    await file.close();
  }
}

function damaged(shown: string, what: string): FileError {
  return new FileError({ file: shown }, `the tar archive is damaged: ${what}`);
}

/** Bytes of the archive, taken in the pieces the format asks for. */
class Records {
  readonly #source: AsyncIterator<Buffer>;
  readonly #shown: string;
  #block: Buffer = Buffer.alloc(0);

  constructor(blocks: AsyncIterable<Buffer>, shown: string) {
    this.#source = blocks[Symbol.asyncIterator]();
    this.#shown = shown;
  }

  /** Exactly so many bytes; undefined at the very end of the archive. */
  async take(length: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    for (let rest = length; rest > 0; ) {
      if (this.#block.length === 0 && !(await this.#refill())) {
        if (rest === length) return undefined;
        throw damaged(this.#shown, 'it ends inside a header');
      }
      const piece = this.#block.subarray(0, rest);
      pieces.push(Buffer.from(piece));
      this.#block = this.#block.subarray(piece.length);
      rest -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** At least one byte and at most so many, not copied. */
  async some(most: number): Promise<Buffer> {
    if (this.#block.length === 0 && !(await this.#refill()))
      throw damaged(this.#shown, 'it ends inside a file');
    const piece = this.#block.subarray(0, most);
    this.#block = this.#block.subarray(piece.length);
    return piece;
  }

  async skip(length: number): Promise<void> {
    for (let rest = length; rest > 0; ) rest -= (await this.some(rest)).length;
  }

  /** Passes over what fills the last record of a file. */
  async pad(size: number): Promise<void> {
    const over = size % recordBytes;
    if (over > 0) await this.skip(recordBytes - over);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #refill(): Promise<boolean> {
    const { value, done } = await this.#source.next();
    if (done === true) return false;
    this.#block = value;
    return true;
  }
}
