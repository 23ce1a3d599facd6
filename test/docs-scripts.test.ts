/**
 * Every `npm run …` line in the README, the pages and the examples names a script that exists, a benchmark or campaign that exists, and options
 * that its program looks for. They take minutes to hours, so they are not run here: the names are held against the sources, comments left out.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...['docs', 'examples'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => join(root, file)),
  ),
];
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** The lines in code blocks and those between backticks, without what a comment says behind them. */
function linesOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/\s+#.*$/gm, (end) => (end.includes('`') ? end : ''));
  return [...text.matchAll(/(?<![\w-])npm run [^`\n]+/g)].map(([line]) => line.trim());
}

function codeOf(file: string): string {
  return readFileSync(file, 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
}

/** A file, with what it imports from its own folder and the folders below it. */
function programOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path] of codeOf(file).matchAll(/(?:from|import\()\s*'(\.\/[^']+)\.js'/g))
    programOf(join(dirname(file), `${path}.ts`), seen);
  return seen;
}

/** The names a program takes, each with the files that do the work. */
function namesIn(file: string): ReadonlyMap<string, readonly string[]> {
  const code = codeOf(file);
  const at = (path: string) => join(dirname(file), `${path}.ts`);
  const imported = [...code.matchAll(/import \{ (bench\w+) \} from '(\.\/[^']+)\.js'/g)];
  const table = /const (?:benches|campaigns)[^=]*= \{\n([\s\S]*?)^\};/m.exec(code)![1]!;
  return new Map(
    table.split(/^(?= {2}\w+: )/m).map((entry) => {
      const lazy = [...entry.matchAll(/import\('(\.\/[^']+)\.js'\)/g)].map(([, path]) => at(path!));
      const eager = imported.filter(([, name]) => new RegExp(`\\b${name}\\b`).test(entry));
      return [/^ {2}(\w+): /.exec(entry)![1]!, [...lazy, ...eager.map(([, , path]) => at(path!))]];
    }),
  );
}

/** The options that a program looks for: declared for `parseArgs`, asked for by name, or listed in an expression. */
function optionsIn(code: string): ReadonlySet<string> {
  const declared = [...code.matchAll(/[{,]\s*'?([\w-]+)'?: \{\s*type: '/g)].map(([, name]) => name!);
  const asked = [...code.matchAll(/'--([\w-]+)'/g)].map(([, name]) => name!);
  const listed = [...code.matchAll(/--\(([\w|-]+)\)/g)].flatMap(([, list]) => list!.split('|'));
  return new Set([...declared, ...asked, ...listed]);
}

const programs: Readonly<Record<string, string>> = {
  bench: 'src/bench/main.ts',
  campaign: 'src/bench/campaigns/main.ts',
  'check:cross': 'src/check/kv/cross-check.ts',
  'check:silence': 'src/bench/silence/main.ts',
};
const names = { bench: namesIn(programs.bench!), campaign: namesIn(programs.campaign!) };

/** What is wrong with a line; undefined: nothing. */
function problemOf(line: string): string | undefined {
  const [script = '', ...rest] = line.replace(/^npm run /, '').split(/\s+/);
  if (!Object.hasOwn(scripts, script)) return `there is no script ${script}`;
  const program = programs[script];
  if (program === undefined) return undefined;
  let files = [program];
  const asked = rest[0];
  if ((script === 'bench' || script === 'campaign') && asked !== undefined && /^[a-z]\w*$/.test(asked)) {
    const found = names[script].get(asked);
    if (found === undefined) return `there is no ${script} ${asked}`;
    files = [program, ...found.flatMap((each) => [...programOf(each)])];
  }
  const options = optionsIn(files.map(codeOf).join('\n'));
  const missing = rest
    .flatMap((word) => /^\[?--([a-z][\w-]*)/.exec(word)?.[1] ?? [])
    .filter((name) => !options.has(name));
  return missing.length === 0 ? undefined : `it has no option --${missing.join(', --')}`;
}

describe('scripts that the documentation names', () => {
  const lines = pages.flatMap((page) => linesOf(page).map((line) => ({ page, line })));

  it('exist, with their names and options', () => {
    expect(lines.length).toBeGreaterThan(40);
    const wrong = lines.flatMap(({ page, line }) => {
      const problem = problemOf(line);
      return problem === undefined ? [] : [`${page}: ${line}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });

  it('are all known: each benchmark and campaign is in the list it is started from', () => {
    expect([...names.bench.keys()]).toContain('replays');
    expect(names.bench.size).toBeGreaterThan(12);
    expect([...names.campaign.keys()].sort()).toEqual(
      ['crash', 'environments', 'escape', 'fleet', 'fuzz', 'kill', 'recovery', 'soak'].sort(),
    );
  });

  it.each([
    ['npm run chek', 'no script chek'],
    ['npm run bench replay', 'no bench replay'],
    ['npm run bench replays -- --sedes 3', 'no option --sedes'],
    ['npm run campaign kil', 'no campaign kil'],
    ['npm run campaign kill -- --time 3', 'no option --time'],
    ['npm run check:cross -- --lvel x', 'no option --lvel'],
  ])('are missed where they are wrong: %s', (line, why) => {
    expect(problemOf(line)).toContain(why);
  });
});
