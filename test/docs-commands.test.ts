/**
 * Every command line in the README, the pages and the examples runs as it is printed, or with what a reader has to put in:
 * his own files, his own server, a version that is here, less time. No command may end in an error. What cannot run here is listed with
 * the reason and the test that runs it; its options are held against the command's help.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findEngines } from '../src/targets/index.js';
import { missingJdbcEngine } from '../src/targets/jdbc/jdbc-adapter.js';
import { galeraAvailable } from '../src/targets/mariadb/galera-nodes.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { type PrivateServer, postgresAvailable } from '../src/targets/postgres/index.js';
import { asUser, startServer, urlOf } from '../src/targets/postgres/postgres-lab.case.js';
import { engineFolder } from '../src/targets/programs.js';
import { providedEngines } from '../src/targets/provided-engines.case.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-docs-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface DocumentedCommand {
  readonly where: string;
  readonly line: string;
  readonly args: readonly string[];
  /** Variables that stand before the command. */
  readonly env: Readonly<Record<string, string>>;
  /** The script that the page says to save first. */
  readonly script?: string;
}

const pages = [
  'README.md',
  ...['docs', 'examples'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => join(root, file)),
  ),
];

const command = /(?:[A-Z_]+=\S+ )*(?:npx )?isolde(?:-db)? [a-z].*/.source;
const inBlocks = new RegExp(`^\\s*(?:\\$ )?(?:again: )?(?:npm ci && )?(${command})$`);
const betweenBackticks = new RegExp(`^${command}$`);

/** The command lines in code blocks, and those between backticks that name no placeholder. */
function commandsOf(page: string): DocumentedCommand[] {
  const text = readFileSync(page, 'utf8');
  const script = /^Save this as `repro\.sql`:\n\n```sql\n([\s\S]*?)^```$/m.exec(text)?.[1];
  const found: DocumentedCommand[] = [];
  let inBlock = false;
  text.split('\n').forEach((row, i) => {
    if (/^\s*```/.test(row)) inBlock = !inBlock;
    const spans = inBlock
      ? (inBlocks.exec(row)?.slice(1) ?? [])
      : [...row.matchAll(/`([^`]+)`/g)]
          .map(([, span]) => span!)
          .filter((span) => betweenBackticks.test(span));
    for (const span of spans) {
      const [, before, line] = /^((?:[A-Z_]+=\S+ )*)(?:npx )?(.*?)(?:\s+#.*)?$/.exec(span)!;
      const args = wordsOf(line!.split(/ (?:\||&&) /)[0]!).slice(1);
      if (!inBlock && !isWhole(args)) continue;
      const env = Object.fromEntries(
        [...before!.matchAll(/(\w+)=(\S+)/g)].map(([, name, to]) => [name!, to!]),
      );
      found.push({
        ...{ where: `${page}:${i + 1}`, line: line!.trim(), args, env },
        ...(script !== undefined && args.includes('repro.sql') && { script }),
      });
    }
  });
  return found;
}

/** Between backticks, `isolde reduce` or `isolde bugs ignore ID` names a command; it is no command line. */
function isWhole(args: readonly string[]): boolean {
  const rest = args.slice(/^(?:bugs|fleet|known)$/.test(args[0]!) ? 2 : 1);
  return rest.length > 0 && !rest.some(isPlaceholder) && !shortened.has(args.join(' '));
}

/** What pages write for something of the reader's; other words in capital letters are levels. */
const placeholders = new Set(
  'A ADDRESS B BUG DIR FILE FOLDER HISTORY ID LEVEL NEW OLD SIGNATURE URL'.split(' '),
);
const isPlaceholder = (word: string) =>
  /…|^\[/.test(word) || word.split('\\|').every((each) => placeholders.has(each));

/** Commands that are named with an option, but without the file they are about. */
const shortened = new Set(['reduce --interactive', 'capabilities --accept', 'check --anomalies']);

/** As a shell cuts a line; no variables, no escapes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
}

const samples = 'examples/histories';
/** What stands for a file or server that a reader brings. */
const replaced: Readonly<Record<string, () => string>> = {
  'history.edn': () => `${samples}/write-skew.edn`,
  'store/latest/history.edn': () => `${samples}/write-skew.edn`,
  'history.json': () =>
    file(
      'history.json',
      '{"process":0,"type":"invoke","f":"add","value":1}\n{"process":0,"type":"ok","f":"add","value":1}\n',
    ),
  'run.history.jsonl': () => `${samples}/duckdb-17223.history.jsonl`,
  'plume.txt': () => file('plume.txt', 'w(1,1,0,0)\nr(1,1,1,1)\n'),
  'run-*.txt': () => file('run-1.txt', 'w(1,1,0,0)\nr(1,1,1,1)\n'),
  'trace.tar.xz': () => file('run-2.txt', 'w(1,1,0,0)\nr(1,1,1,1)\n'),
  'bug.sql': () => 'examples/scripts/duckdb-17223.sql',
  'case.sql': () => 'examples/scripts/duckdb-17223.sql',
  'lost.sql': () => 'examples/scripts/duckdb-17223.sql',
  'repro.sql': () => 'examples/scripts/duckdb-17223.sql',
  'deleted.case.json': () => 'examples/scripts/duckdb-17223.sql',
  'tidb_42487.tar.xz': () => trace,
  'h2.jar': () => join(engineFolder('h2'), 'jars', readdirSync(join(engineFolder('h2'), 'jars'))[0]!),
  'tidb:?binaries=/path/to/bin': () => `tidb:?binaries=${join(engineFolder('tidb'), 'bin')}`,
  'mine.json': () => file('mine.json', '{ "format": "isolde-profile", "version": 1, "name": "mine" }'),
  'postgres://me@localhost/app': () => server!.url,
  'postgres://tester:secret@127.0.0.1:5432/shop': () => server!.url,
  'postgres://ci@localhost/test': () => server!.url,
  'postgres://tester@localhost/shop': () => server!.url,
};
/** Files that a command writes go to a folder of the test's. */
const written =
  /^(?:schedule\.case\.json|big\.case\.json|bugs\.xml|properties\.xml|toy\.capabilities\.json|history\.jsonl|proof\.json|plume\.history\.jsonl\.gz|all\.history\.jsonl|site)$/;

/** The trace of TiDB #42487, which Pisco published. */
const trace = process.env.ISOLDE_PISCO_TRACE ?? '../shared/data/pisco/tidb_42487.tar.xz';

/** What cannot run here, why, and the test that stands for it: a file that has these words. */
const notHere: readonly {
  readonly line: RegExp;
  readonly why: string;
  readonly test: string;
  readonly words: string;
}[] = [
  {
    line: /^isolde (?:demo|.*duckdb-missed-conflict-796e85d9)/,
    why: 'is run with the lines that the page shows below it',
    test: 'test/printed-samples.test.ts',
    words: "['docs/tutorial.md', 6]",
  },
  {
    line: /^isolde (?:reduce tidb_42487\.tar\.xz|reproduce tidb_42487-first)/,
    why: 'takes minutes',
    test: 'test/tidb-trace.test.ts',
    words: "isolde(['reproduce', first, '--target', tidbOld.url, '--runs', '3'])",
  },
  {
    line: /^isolde matrix .*tidb@6\.6: tidb@8\.5:/,
    why: 'takes minutes on two servers',
    test: 'test/tidb-trace.test.ts',
    words: "isolde(['matrix', 'tidb-42487', 'tidb-35682', ...targets",
  },
  {
    line: /^isolde engines duckdb --published/,
    why: 'asks npm',
    test: 'src/targets/versions/versions.test.ts',
    words: 'listPublished(',
  },
  {
    line: /^isolde fleet (?:serve|work)/,
    why: 'starts a server or worker that runs until it is stopped',
    test: 'src/fleet/fleet.test.ts',
    words: "[program, 'fleet', 'serve', '--local']",
  },
  {
    line: /^isolde fleet (?:hunt|status)|--store postgres:\/\/…/,
    why: 'needs the fleet’s database',
    test: 'src/fleet/fleet.test.ts',
    words: "await fleet('status')",
  },
  {
    line: /^isolde studio postgres:\/\/isolde@db\.example/,
    why: 'needs the fleet’s database',
    test: 'src/studio/shared-store.test.ts',
    words: 'startStudio(',
  },
  {
    line: /"jdbc:vendor:/,
    why: 'stands for a driver of the reader’s',
    test: 'src/targets/jdbc/jdbc-target.test.ts',
    words: 'jdbc:h2:',
  },
];

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A version that npm has is replaced by the one that is installed; those of `scripts/engines` are here or not. */
const npmVersion = /^(duckdb|turso|postgres)@[\d.]+(?=:|$)/;
const installed: Record<string, string> = {};
/** A package under another name is replaced by the one that is here. */
const otherPackage: Readonly<Record<string, string>> = {
  'package=turso-0-4': 'package=@tursodatabase/database',
  'package=duckdb-1-3': 'package=@duckdb/node-api',
};

function replacement(word: string): string {
  if (Object.hasOwn(replaced, word)) return replaced[word]!();
  if (written.test(word)) return join(folder, word);
  return word
    .replace(npmVersion, (_, engine: string) => `${engine}@${installed[engine]}`)
    .replace(/package=(?:turso-0-4|duckdb-1-3)/, (text) => otherPackage[text]!);
}

/** The number behind each of these options, at most. */
const less: Readonly<Record<string, string>> = {
  '--for': '2s',
  '--runs': '3',
  '--repeats': '20',
  '--versions': 'local',
};

function prepared({ args, script }: DocumentedCommand): string[] {
  const name = args[0]!;
  let words = args.map((word, i) => {
    if (Object.hasOwn(less, args[i - 1] ?? '')) return less[args[i - 1]!]!;
    return word === 'repro.sql' && script !== undefined ? file('repro.sql', script) : replacement(word);
  });
  // Nothing is fetched that is here.
  if (name !== 'engines') words = words.filter((word) => word !== '--fetch');
  if (name === 'hunt' && !words.includes('--for')) words.push('--for', '2s');
  // Two rounds show that it runs; what hunts find, and how they end by time, other tests ask.
  if (name === 'hunt' && !words.includes('--rounds')) words.push('--rounds', '2');
  if (name === 'matrix' && !words.includes('--runs')) words.push('--runs', '1');
  if (words.includes('--bisect')) words.push('--versions', 'local');
  // The whole table takes half a minute; src/targets/jdbc/jdbc-target.test.ts has it.
  if (words.join(' ') === 'probe derby:') words.push('--anomaly', 'write-skew');
  if (['hunt', 'bugs', 'burst', 'matrix', 'property'].includes(name)) words.push('--store', store);
  if (name === 'studio') {
    if (!words.includes('--export')) words.push('--no-open');
    words.splice(1, words[1]?.startsWith('-') === false ? 1 : 0, store);
  }
  return words;
}

/** An engine in a process of its own is started by the program as it is built. */
const hasOwnProcess = (word: string) => /process=own|[?&]package=|^(?:duckdb|turso)@[\d.]+:/.test(word);

function built(args: readonly string[]): Promise<{ readonly code: unknown; readonly err: string }> {
  return new Promise((resolve) =>
    execFile(process.execPath, ['dist/bin/isolde.js', ...args], (error, _, err) =>
      resolve({ code: error === null ? 0 : error.code, err }),
    ),
  );
}

/** The studio runs until it is stopped. */
const stopped = (args: readonly string[]) =>
  args[0] === 'studio' ? { signal: AbortSignal.timeout(2000) } : {};

const store = join(folder, 'store');
let server: (PrivateServer & { readonly url: string }) | undefined;

beforeAll(async () => {
  for (const { engine, found } of await findEngines())
    for (const each of found)
      if ('version' in each && each.url === `${engine}:`) installed[engine] = each.version;
  cpSync(samples, join(folder, 'histories'), { recursive: true });
  const made = await isolde(['hunt', 'duckdb:', '--bugs', '1', '--for', '60s', '--store', store]);
  expect(made.code, made.err).toBe(1);
  if (postgresAvailable() !== undefined) return;
  const started = await startServer();
  // The role that docs/stages/safety.md asks for: it may create schemas in one database, and nothing else.
  await asUser(urlOf(started), `CREATE ROLE tester LOGIN PASSWORD 'tester'`, 'CREATE DATABASE shop');
  await asUser(urlOf(started), 'GRANT CREATE ON DATABASE shop TO tester');
  server = { ...started, url: urlOf(started, { user: 'tester', password: 'tester', database: 'shop' }) };
}, 120_000);
afterAll(async () => server?.stop());

const commands = pages.flatMap(commandsOf);
const once = [
  ...new Map(commands.map((command) => [`${command.line}\n${command.script ?? ''}`, command])).values(),
];
const reasonOf = (line: string) => notHere.find((entry) => entry.line.test(line));

describe('command lines in the documentation', () => {
  it('are found', () => {
    expect(commands.length).toBeGreaterThan(160);
    expect(once.filter(({ line }) => reasonOf(line) === undefined).length).toBeGreaterThan(130);
  });

  it('leave nothing in the lists above that no line needs', () => {
    const words = new Set(
      once.flatMap(({ line, args, env }) =>
        reasonOf(line) === undefined ? [...args, ...Object.values(env)] : [],
      ),
    );
    expect(Object.keys(replaced).filter((word) => !words.has(word))).toEqual([]);
    expect(notHere.filter((entry) => !once.some(({ line }) => reasonOf(line) === entry))).toEqual([]);
  });

  it.each(notHere)('$line, which does not run here, has a test: $test', ({ test, words }) => {
    expect(readFileSync(test, 'utf8')).toContain(words);
  });

  for (const command of once) {
    const { where, line, args, env } = command;
    const reason = reasonOf(line);
    if (reason !== undefined) {
      it(`${where}: ${line} (${reason.why}: ${reason.test}) has options that the command takes`, async () => {
        const names = args.slice(0, /^(?:bugs|fleet|known)$/.test(args[0]!) ? 2 : 1);
        const { code, out } = await isolde([...names, '--help']);
        expect(code).toBe(0);
        const options = args.filter((word) => /^--?[a-z]/.test(word));
        expect(options.filter((word) => !new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(out))).toEqual([]);
      });
      continue;
    }
    const missing = missingEngine(line);
    it.skipIf(missing !== undefined)(
      `${where}: ${line}${missing === undefined ? '' : ` (${missing})`}`,
      async () => {
        for (const [name, value] of Object.entries(env)) vi.stubEnv(name, replacement(value));
        try {
          const words = prepared(command);
          const { code, err } = words.some(hasOwnProcess)
            ? await built(words)
            : await isolde(words, stopped(args));
          expect([0, 1, 2], err).toContain(code);
        } finally {
          vi.unstubAllEnvs();
        }
      },
      120_000,
    );
  }
});

function missingEngine(line: string): string | undefined {
  if (line.includes('tidb_42487.tar.xz') && !existsSync(trace)) return `${trace} is not here`;
  // scripts/engines provides these, where it can.
  if (line.includes('mysql@5.6')) return providedEngines.mysql56.missing;
  if (line.includes('tidb@6.6')) return providedEngines.tidbOld.missing;
  if (/\btidb:(?=["' ?]|$)/.test(line)) return providedEngines.tidb.missing;
  if (/\bmysql:(?=["' ]|$)/.test(line)) return providedEngines.mysql.missing;
  // Debian has the library in a package of its own.
  if (line.includes('cluster:mariadb')) return galeraAvailable();
  if (enginesRequired) return undefined;
  if (/postgres(?:@[\d.]+)?:|cluster:postgres/.test(line)) return postgresAvailable();
  if (line.includes('mariadb:')) return mariadbAvailable();
  const jdbc = /\b(h2|hsqldb|derby):/.exec(line)?.[1];
  return jdbc === undefined ? undefined : missingJdbcEngine(jdbc);
}
