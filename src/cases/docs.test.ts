import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCaseFile, printCaseFile } from './case-file.js';
import { parseScript, printScript } from './script.js';

/** The code blocks of a page, by language. */
function blocks(page: string, language: string): string[] {
  const text = readFileSync(new URL(`../../docs/formats/${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code]) => code!);
}

describe('the pages about formats', () => {
  it('show a case file exactly as it is printed', () => {
    const [example, ...more] = blocks('case.md', 'json');
    expect(more).toEqual([]);
    expect(printCaseFile(parseCaseFile(example!, 'case.md'))).toBe(example);
  });

  it('show scripts that hold the same case as the case file, reasons aside', () => {
    const [example, procedure] = blocks('script.md', 'sql');
    const { case: program, schedule } = parseScript(example!, { file: 'script.md' });
    const fromFile = parseCaseFile(blocks('case.md', 'json')[0]!, 'case.md');
    const { dialect: _, ...portable } = fromFile.case;
    expect(program).toEqual(portable);
    expect(schedule!.batches).toEqual(fromFile.schedule!.batches);
    expect(printScript({ case: program, schedule: schedule! })).toBe(example);
    expect(parseScript(procedure!, { file: 'script.md' }).case.setup).toHaveLength(1);
  });

  it('show a report that is read', () => {
    const report = blocks('script.md', 'text').find((text) => text.includes('mysql>'))!;
    const { case: program } = parseScript(report, { file: 'script.md' });
    expect(program.level).toBe('read committed');
    expect(program.setup).toEqual(['CREATE TABLE t (a INT)', 'INSERT INTO t VALUES (1)']);
    expect(program.sessions).toEqual([
      { name: 'session1', statements: ['begin', 'select * from t', 'commit'] },
      { name: 'session2', statements: ['update t set a = 2'] },
    ]);
  });

  it('name every field of the example', () => {
    const page = readFileSync(new URL('../../docs/formats/case.md', import.meta.url), 'utf8');
    for (const field of Object.keys(JSON.parse(blocks('case.md', 'json')[0]!) as object)) {
      expect(page).toContain(`| \`${field}\` |`);
    }
  });
});
