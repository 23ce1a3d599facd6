import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readContent, story, withFolder, writeFiles } from './import.case.js';
import { parseFormatName, readAnyHistory, recognizeFormat } from './read-any.js';

const edn = '{:type :ok, :process 0, :value [[:w 1 1]]}\n';
const missing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined;

describe('recognising a format', () => {
  it('lists what is read when nothing fits', async () => {
    await expect(readContent('hello')).rejects.toThrow(
      /history: it looks like none of the formats that are read: isolde \(.*jepsen \(Jepsen EDN\).*--format NAME/,
    );
    await expect(readContent('')).rejects.toThrow('none of the formats');
    await expect(readContent(Buffer.from([0, 1, 2, 3]))).rejects.toThrow('none of the formats');
  });

  it('takes a file for the format it is told', async () => {
    await expect(readContent(edn, { format: 'plume' })).rejects.toThrow(
      ':1: expected r(key,value,session,txn)',
    );
    expect(() => parseFormatName('csv')).toThrow(
      'there is no format "csv"; there are isolde, jepsen, elle-json',
    );
  });

  it('reads a pipe', async () => {
    if (missing('mkfifo')) return;
    await withFolder(async (folder) => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const [read] = await Promise.all([readAnyHistory(pipe), writeFile(pipe, gzipSync(edn))]);
      expect(read.format).toBe('jepsen');
    });
  });

  it('refuses a device, and a pipe by its first bytes, before anything is written', async () => {
    if (missing('mkfifo')) return;
    const before = await readdir(tmpdir());
    await expect(readAnyHistory('/dev/zero')).rejects.toThrow('/dev/zero is a device');
    await withFolder(async (folder) => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const endless = spawn('sh', ['-c', `yes > "$0"`, pipe]);
      const closed = new Promise((resolve) => endless.on('close', resolve));
      await expect(readAnyHistory(pipe)).rejects.toThrow('none of the formats');
      await closed;
    });
    expect(
      (await readdir(tmpdir())).filter((name) => !before.includes(name) && /-import-/.test(name)),
    ).toEqual([]);
  });

  it('ends with what never ends, and removes what was kept of it', async () => {
    if (missing('mkfifo')) return;
    await withFolder(async (folder) => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const endless = spawn('sh', ['-c', `yes '${edn.trim()}' > "$0"`, pipe]);
      const closed = new Promise((resolve) => endless.on('close', resolve));
      await expect(readAnyHistory(pipe, { maxBytes: 3_000_000 })).rejects.toThrow(/bytes/);
      await closed;
      const mine = `isolde-import-${process.pid}-`;
      expect((await readdir(tmpdir())).filter((name) => name.startsWith(mine))).toEqual([]);
    });
  });

  it('says that a file is not there', async () => {
    await expect(readAnyHistory('/nowhere/at-all.edn')).rejects.toThrow(
      'cannot read /nowhere/at-all.edn: ENOENT',
    );
  });

  it('finds the history in the folder of a Jepsen run', async () => {
    const read = await readContent({
      'history.edn': edn,
      'jepsen.log': 'r(1,1,1,1)\n',
      'results.edn': '{:valid? true}',
    });
    expect(read.format).toBe('jepsen');
    await expect(readContent({ 'a.edn': edn, 'b.edn': edn })).rejects.toThrow(
      'it holds 2 histories; name one',
    );
  });
});

describe('packed files', () => {
  const expected = ['0: w(1, 1)'];
  const check = async (path: string): Promise<void> => {
    const read = await readAnyHistory(path);
    expect(read.kind === 'kv' && story(read.history)).toEqual(expected);
  };

  it('unpacks gzip, whatever the name', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'odd.name'), gzipSync(edn));
      await check(join(folder, 'odd.name'));
      await writeFile(join(folder, 'cut.gz'), gzipSync(edn.repeat(1000)).subarray(0, 60));
      await expect(readAnyHistory(join(folder, 'cut.gz'))).rejects.toThrow('the gzip data end too early');
    });
  });

  it.each(['xz', 'bzip2', 'zstd'])('unpacks %s by its program', async (program) => {
    if (missing(program)) {
      console.warn(`skipped: ${program} is not installed`);
      return;
    }
    await withFolder(async (folder) => {
      const packed = execFileSync(program, ['-c'], { input: edn.repeat(100) });
      await writeFile(join(folder, '-rf'), packed);
      expect(await recognizeFormat(join(folder, '-rf'))).toBe('jepsen');
      await writeFile(join(folder, 'cut'), packed.subarray(0, packed.length - 9));
      await expect(readAnyHistory(join(folder, 'cut'))).rejects.toThrow(`the ${program} data are damaged`);
    });
  });

  it('says what to install when a program is missing', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'a'), Buffer.from('fd377a585a000004', 'hex'));
      const path = process.env.PATH;
      process.env.PATH = folder;
      try {
        await expect(readAnyHistory(join(folder, 'a'))).rejects.toThrow(
          'the program xz cannot be started: install it',
        );
      } finally {
        process.env.PATH = path;
      }
    });
  });

  it('refuses more bytes than allowed', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'bomb.gz'), gzipSync(edn.repeat(10_000)));
      await expect(readAnyHistory(join(folder, 'bomb.gz'), { maxBytes: 1000 })).rejects.toThrow(
        'more than 1000 bytes',
      );
      await writeFile(join(folder, 'bomb.tar'), tar({ 'a/history.edn': edn.repeat(10_000) }));
      await expect(readAnyHistory(join(folder, 'bomb.tar'), { maxBytes: 1000 })).rejects.toThrow(
        'more than 1000 bytes',
      );
    });
  });

  it('unpacks tar archives and leaves nothing behind', async () => {
    await withFolder(async (folder) => {
      const before = await readdir(tmpdir());
      await writeFile(join(folder, 'a.tar.gz'), gzipSync(tar({ 'run/store/history.edn': edn })));
      await check(join(folder, 'a.tar.gz'));
      await writeFile(join(folder, 'b.tar'), tar({ 'x/history.edn': '{:type :ok, :value 3}' }));
      await expect(readAnyHistory(join(folder, 'b.tar'))).rejects.toThrow('b.tar/x/history.edn:1 (:value)');
      const left = (await readdir(tmpdir())).filter(
        (name) => name.startsWith('isolde-import-') && !before.includes(name),
      );
      expect(left).toEqual([]);
    });
  });

  it('never writes outside its folder and follows no links', async () => {
    await withFolder(async (folder) => {
      const evil = tar({
        '../escaped.edn': edn,
        '/tmp/isolde-absolute.edn': edn,
        'link\0symlink': '/etc',
        'history.edn': edn,
      });
      await writeFile(join(folder, 'evil.tar'), evil);
      await check(join(folder, 'evil.tar'));
      expect(await readdir(folder)).toEqual(['evil.tar']);
      expect(await readdir('/tmp')).not.toContain('isolde-absolute.edn');
    });
  });

  it('reads archives that tar itself made', async () => {
    if (missing('tar')) return;
    await withFolder(async (folder) => {
      const long = `${'long-name-'.repeat(15)}/${'deeper-'.repeat(20)}`;
      await writeFiles(join(folder, 'in'), { [`${long}/history.edn`]: edn });
      for (const format of ['ustar', 'gnu', 'pax']) {
        const path = join(folder, `${format}.tar`);
        const made = spawnSync('tar', [`--format=${format}`, '-cf', path, '-C', join(folder, 'in'), '.']);
        if (made.status === 0) await check(path);
      }
    });
  });

  it('says that an archive is damaged', async () => {
    await withFolder(async (folder) => {
      const bytes = tar({ 'history.edn': edn });
      await writeFile(join(folder, 'cut.tar'), bytes.subarray(0, 520));
      await expect(readAnyHistory(join(folder, 'cut.tar'))).rejects.toThrow(
        'the tar archive is damaged: it ends inside a file',
      );
      bytes[0] = 90;
      await writeFile(join(folder, 'sum.tar'), bytes);
      await expect(readAnyHistory(join(folder, 'sum.tar'))).rejects.toThrow('checksum is wrong');
    });
  });
});

/** A ustar archive; a name that ends in `\0symlink` becomes a symbolic link to its content. */
function tar(files: Readonly<Record<string, string>>): Buffer {
  const records: Buffer[] = [];
  for (const [name, content] of Object.entries(files)) {
    const [path, link] = name.split('\0') as [string, string | undefined];
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write('0000644\0', 100);
    header.write(`${(link === undefined ? content.length : 0).toString(8).padStart(11, '0')}\0`, 124);
    header.write(link === undefined ? '0' : '2', 156);
    if (link !== undefined) header.write(content, 157);
    header.write('ustar\x0000', 257);
    header.fill(32, 148, 156);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    records.push(header);
    if (link !== undefined) continue;
    records.push(Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512));
  }
  return Buffer.concat([...records, Buffer.alloc(1024)]);
}
