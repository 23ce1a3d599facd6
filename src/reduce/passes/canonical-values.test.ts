import { describe, expect, it } from 'vitest';
import { parseScript, printScript } from '../../cases/index.js';
import { candidateOf } from '../candidate.js';
import { Trials } from '../trials.js';
import { changingValues, quietUpdates } from './canonical-values.js';
import { type PassContext, passes, runPasses } from './index.js';

const context: PassContext = { dialect: 'duckdb', levels: ['snapshot'], level: undefined };
const candidate = (text: string) => candidateOf(parseScript(text, { file: 'test.sql', dialect: 'duckdb' }));

const setup = "CREATE TABLE t (a INT, s TEXT);\nINSERT INTO t (a, s) VALUES (0, 'a'), (0, 'b');\n";
const quiet = (lines: string) => quietUpdates(context)(candidate(setup + lines));

/** What the passes make of a case whose finding needs only what `shows` says. */
async function simplified(lines: string, shows: (script: string) => boolean): Promise<string[]> {
  const run = async (given: ReturnType<typeof candidate>) =>
    ({ verdict: shows(printScript(given)) ? 'same' : 'none' }) as const;
  const trials = new Trials(candidate(setup + lines), { oracle: { lanes: 1, run } });
  await runPasses({ ...passes, removals: [], structural: [] }, trials, context);
  return printScript(trials.best)
    .split('\n')
    .filter((line) => /^T\d/.test(line));
}

describe('updates that change nothing', () => {
  it('are those to the column itself, to what every row has, and to what another update writes', () => {
    expect(quiet('T1: UPDATE t SET a = a;')).toBe(1);
    expect(quiet('T1: UPDATE t SET a = 0;')).toBe(1);
    expect(quiet("T1: UPDATE t SET s = 'a';")).toBe(0);
    expect(quiet('T1: UPDATE t SET a = 5;\nT2: UPDATE t SET a = 5;')).toBe(1);
    expect(quiet('T1: UPDATE t SET a = 5;\nT2: UPDATE t SET a = 6;\nT2: DELETE FROM t;')).toBe(0);
    expect(quiet('T1: UPDATE t SET a = a + 1;\nT1: SELECT * FROM t WHERE a = 0;')).toBe(0);
  });

  it('get values that change something, of the column’s type, where the finding stays', async () => {
    const any = () => true;
    expect(await simplified('T1: UPDATE t SET a = a;\nT2: UPDATE t SET a = 0 WHERE a = 0;', any)).toEqual([
      'T1: UPDATE t SET a = 1;',
      'T2: UPDATE t SET a = 2 WHERE a = 0;',
    ]);
    const typed = (script: string) => !/SET s = \d/.test(script);
    expect(await simplified('T1: UPDATE t SET s = s;', typed)).toEqual(["T1: UPDATE t SET s = 'a';"]);
  });

  it('stay where the finding needs them, and small values do not bring them back', async () => {
    const noOp = (script: string) => script.includes('T1: UPDATE t SET a = a');
    expect(await simplified('T1: UPDATE t SET a = a;', noOp)).toEqual(['T1: UPDATE t SET a = a;']);
    expect(await simplified('T1: UPDATE t SET a = 99;\nT2: UPDATE t SET a = 77;', () => true)).toEqual([
      'T1: UPDATE t SET a = 2;',
      'T2: UPDATE t SET a = 1;',
    ]);
    expect(changingValues.proposals(candidate(`${setup}T1: UPDATE t SET a = 1;`), context)).toEqual([]);
  });
});
