import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';
import type { CliWorld } from './context.js';
import { guardOutput } from './guarded-output.js';

const esc = '\u001b';
const attack = `${esc}[2J${esc}]0;owned\u0007\u202edlrow\u009b31m`;

function world(terminal: boolean): { readonly world: CliWorld; readonly printed: string[] } {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  return {
    printed,
    world: {
      ...{ out: print, err: print, outIsTerminal: terminal, errIsTerminal: terminal, width: 80 },
      colors: pc.createColors(terminal),
      signal: new AbortController().signal,
    },
  };
}

describe('the filter on what is printed', () => {
  it('shows the escapes of data, also inside colours, and keeps our own colours', () => {
    const { world: terminal, printed } = world(true);
    const { out, colors } = guardOutput(terminal);
    out(`${attack} ${colors.bold(`${colors.red(attack)} b`)}`);
    const shown = '\\x1b[2J\\x1b]0;owned\\x07\\u202edlrow\\u009b31m';
    expect(printed).toEqual([
      `${shown} ${pc.createColors(true).bold(`${pc.createColors(true).red(shown)} b`)}`,
    ]);
  });

  it('lets a file through as it is where no terminal shows it', () => {
    const [piped, shown] = [world(false), world(true)];
    guardOutput(piped.world).file(attack);
    guardOutput(shown.world).file(attack);
    expect(piped.printed).toEqual([attack]);
    expect(shown.printed.join()).not.toContain(esc);
  });

  it('takes lines away on a terminal only', () => {
    const [piped, shown] = [world(false), world(true)];
    guardOutput(piped.world).eraseLines(1);
    guardOutput(shown.world).eraseLines(1);
    expect(piped.printed).toEqual([]);
    expect(shown.printed).toEqual([`${esc}[1A${esc}[0J${esc}[1A`]);
  });
});

describe('commands given a hostile file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'isolde-output-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    [
      'a script with escapes in a name, SQL and results',
      'case.sql',
      `-- name: ${attack}\nsetup: CREATE TABLE t (a TEXT);\nT1: INSERT INTO t VALUES ('${attack}');\nT1: SELECT a FROM t;\nT1: SELECT ${attack};\n`,
      'run',
    ],
    ['a case that is not JSON', 'case.case.json', `{"${attack}`, 'run'],
    [
      'a history with unknown fields',
      'x.history.jsonl',
      `{"format":"isolde-history","version":1,"${attack}":1}\n`,
      'check',
    ],
    ['a file of no known format', 'x.txt', attack, 'check'],
  ])('prints no control character of %s', async (_, name, text, command) => {
    const file = join(folder, name);
    await writeFile(file, text);
    for (const more of [[], ['--json']]) {
      const { out, err } = await isolde([command, file, ...more]);
      expect(out + err).not.toBe('');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must not be printed
      expect(out + err).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
    }
  });

  it('prints no control character of its own arguments', async () => {
    const { err } = await isolde([attack]);
    expect(err).toContain('\\x1b[2J');
    expect(err).not.toContain(esc);
  });
});
