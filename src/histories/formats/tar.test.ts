/** Archives are somebody else's data: what is unpacked, what is passed over, and what is refused. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileError } from '../../errors.js';
import { withFolder } from './import.case.js';
import { unpackTar } from './tar.js';

interface Member {
  readonly name: string;
  readonly content?: string;
  readonly type?: string;
  readonly prefix?: string;
  /** Instead of the length of the content. */
  readonly size?: string;
}

function record({ name, content = '', type = '0', prefix = '', size }: Member): Buffer {
  const data = Buffer.from(content);
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write('0000644\0', 100);
  header.write(size ?? `${data.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        ', 148);
  header.write(type, 156);
  header.write('ustar\0', 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((512 - (data.length % 512)) % 512);
  return Buffer.concat([header, data, padding]);
}

const archive = (...members: Member[]) => Buffer.concat([...members.map(record), Buffer.alloc(1024)]);
const pax = (...fields: string[]): Member => ({
  name: 'pax',
  type: 'x',
  content: fields.map((field) => `${field.length + 4} ${field}\n`).join(''),
});

async function* inBlocks(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** The files below a folder with their contents. */
async function filesBelow(folder: string, below = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(found, await filesBelow(folder, path));
    else found[path] = await readFile(join(folder, path), 'utf8');
  }
  return found;
}

function unpack(bytes: Buffer, blockLength = 700): Promise<Record<string, string>> {
  return withFolder(async (folder) => {
    const into = join(folder, 'a', 'into');
    await mkdir(into, { recursive: true });
    await unpackTar(inBlocks(bytes, blockLength), into, 'x.tar');
    const outside = Object.keys(await filesBelow(folder)).filter((path) => !path.startsWith('a/into/'));
    expect(outside).toEqual([]);
    return filesBelow(into);
  });
}

describe('an archive', () => {
  it.each<[what: string, members: Member[], files: Record<string, string>]>([
    ['nothing', [], {}],
    ['an empty file', [{ name: 'e' }], { e: '' }],
    [
      'files in folders',
      [
        { name: 'd/', type: '5' },
        { name: 'd/f', content: 'x' },
      ],
      { 'd/f': 'x' },
    ],
    ['a file whose folder is not listed', [{ name: 'a/b/c', content: 'x' }], { 'a/b/c': 'x' }],
    ['a file as old as tar', [{ name: 'old', content: 'x', type: '\0' }], { old: 'x' }],
    ['a contiguous file', [{ name: 'c', content: 'x', type: '7' }], { c: 'x' }],
    ['a name with a prefix', [{ name: 'f', prefix: 'long/way', content: 'x' }], { 'long/way/f': 'x' }],
    ['a dot before the name', [{ name: './f', content: 'x' }], { f: 'x' }],
    [
      'a long name of GNU tar',
      [
        { name: '././@LongLink', type: 'L', content: `${'n'.repeat(150)}\0` },
        { name: 'cut', content: 'x' },
      ],
      { [`${'n'.repeat(150)}`]: 'x' },
    ],
    ['a pax path', [pax('path=dir/real', 'mtime=1'), { name: 'cut', content: 'x' }], { 'dir/real': 'x' }],
    [
      'a pax path for one file only',
      [pax('path=real'), { name: 'cut', content: 'x' }, { name: 'next', content: 'y' }],
      { real: 'x', next: 'y' },
    ],
    ['a pax size', [pax('size=3'), { name: 'f', content: 'abc', size: '00000000003\0' }], { f: 'abc' }],
    ['global pax fields', [{ name: 'g', type: 'g', content: '12 path=no\n' }, { name: 'f' }], { f: '' }],
    [
      'a file in two versions: the last',
      [
        { name: 'f', content: 'first' },
        { name: 'f', content: '2' },
      ],
      { f: '2' },
    ],
  ])('with %s', async (_, members, files) => {
    expect(await unpack(archive(...members))).toEqual(files);
  });

  it.each<[what: string, member: Member]>([
    ['a way out', { name: '../evil', content: 'x' }],
    ['a hidden way out', { name: 'a/../../evil', content: 'x' }],
    ['an absolute path', { name: '/etc/evil', content: 'x' }],
    ['a way out by backslashes', { name: '..\\evil', content: 'x' }],
    ['a drive', { name: 'C:evil', content: 'x' }],
    ['a symbolic link', { name: 'l', type: '2' }],
    ['a hard link', { name: 'l', type: '1' }],
    ['a device', { name: 'd', type: '3' }],
    ['a pipe', { name: 'p', type: '6' }],
    ['no name', { name: '', content: 'x' }],
  ])('passes over %s and goes on', async (_, member) => {
    const files = await unpack(archive(member, { name: 'good', content: 'y' }));
    expect(files).toEqual({ good: 'y' });
  });

  it.each(['../../evil', '/evil', `${'d/'.repeat(50)}f`, 'n'.repeat(256)])(
    'does not follow the pax path %s',
    async (path) => {
      expect(await unpack(archive(pax(`path=${path}`), { name: 'f', content: 'x' }))).toEqual({});
    },
  );

  it('is read alike from blocks of any length', async () => {
    const bytes = archive(
      { name: 'a', content: 'x'.repeat(1500) },
      pax('path=b/c'),
      { name: 'cut', content: 'y'.repeat(512) },
      { name: 'd', content: 'z' },
    );
    const whole = await unpack(bytes, bytes.length);
    expect(Object.keys(whole).sort()).toEqual(['a', 'b/c', 'd']);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2000 }), async (length) => {
        expect(await unpack(bytes, length)).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });
});

describe('a damaged archive', () => {
  const good = archive({ name: 'f', content: 'x'.repeat(600) });

  it.each<[what: string, bytes: Buffer, problem: string]>([
    [
      'a wrong checksum',
      Buffer.concat([Buffer.from('!'), good.subarray(1)]),
      'a header whose checksum is wrong',
    ],
    ['an end inside a header', good.subarray(0, 300), 'it ends inside a header'],
    ['an end inside a file', good.subarray(0, 800), 'it ends inside a file'],
    ['an end inside the padding', good.subarray(0, 1200), 'it ends inside a file'],
    ['a size that is none', archive({ name: 'f', size: 'zzzzzzzzzzz\0' }), 'a file whose size is no number'],
    [
      'a name without end',
      archive({ name: 'L', type: 'L', size: '00000400001\0' }),
      'a name of 131073 bytes',
    ],
    [
      'a file where a folder is needed',
      archive({ name: 'a', content: 'x' }, { name: 'a/b', content: 'y' }),
      'on the way to "a/b", one name is a file and a folder',
    ],
    [
      'a file where a folder is',
      archive({ name: 'a/b', content: 'y' }, { name: 'a', content: 'x' }),
      'on the way to "a", one name is a file and a folder',
    ],
  ])('with %s is refused', async (_, bytes, problem) => {
    const thrown = await unpack(bytes).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(FileError);
    expect((thrown as FileError).message).toBe(`x.tar: the tar archive is damaged: ${problem}`);
  });
});
