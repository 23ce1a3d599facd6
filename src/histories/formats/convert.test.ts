import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { convert } from './convert.js';
import { readAnyHistory } from './read-any.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-convert-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const kv = 'examples/histories/write-skew.edn';
const sql = 'examples/histories/duckdb-17223.history.jsonl';

describe('convert', () => {
  it('writes what the name of the output tells, or what is asked for', async () => {
    const own = await convert(kv, join(folder, 'a.history.jsonl'));
    expect(own).toMatchObject({ format: 'isolde', transactions: 3, omitted: [] });
    const asked = await convert(kv, join(folder, 'b'), { to: 'elle-json' });
    expect(asked).toMatchObject({ format: 'elle-json', operations: own.operations });
  });

  it('keeps a key-value history through every format that is written', async () => {
    const before = await readAnyHistory(kv);
    for (const name of ['c.history.jsonl', 'c.edn', 'c.jsonl.gz']) {
      const { file } = await convert(kv, join(folder, name));
      const after = await readAnyHistory(file);
      if (before.kind !== 'kv' || after.kind !== 'kv') throw new Error('not a key-value history');
      expect([after.history.txCount, after.history.opCount]).toEqual([
        before.history.txCount,
        before.history.opCount,
      ]);
    }
  });

  it('writes histories of SQL in the own format alone', async () => {
    const { file, operations } = await convert(sql, join(folder, 'd.history.jsonl'));
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(operations + 1);
    await expect(convert(sql, join(folder, 'd.edn'))).rejects.toThrow('can only be written as isolde');
  });

  it('says which formats there are where the name tells none', async () => {
    await expect(convert(kv, join(folder, 'e'))).rejects.toThrow(
      '--to isolde or --to jepsen or --to elle-json',
    );
  });
});
