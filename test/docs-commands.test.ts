/**
 * Every command line in the README, the pages and the examples runs as it is printed, or with what a reader has to put in:
 * his own files, his own server, less time. No command may end in an error.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingJdbcEngine } from '../src/targets/jdbc/jdbc-adapter.js';
import { galeraAvailable } from '../src/targets/mariadb/galera-nodes.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { type PrivateServer, postgresAvailable } from '../src/targets/postgres/index.js';
import { asUser, startServer, urlOf } from '../src/targets/postgres/postgres-lab.case.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-docs-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface DocumentedCommand {
  readonly where: string;
  readonly line: string;
  readonly args: readonly string[];
}

const pages = [
  'README.md',
  ...['docs', 'examples'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => join(root, file)),
  ),
];

/** The command lines in code blocks, and those between backticks that name no placeholder. */
function commandsOf(page: string): DocumentedCommand[] {
  const found: DocumentedCommand[] = [];
  let inBlock = false;
  readFileSync(page, 'utf8')
    .split('\n')
    .forEach((text, i) => {
      if (/^\s*```/.test(text)) inBlock = !inBlock;
      const spans = inBlock
        ? (/^\s*(?:\$ )?((?:npx )?isolde [a-z].*)$/.exec(text)?.slice(1) ?? [])
        : [...text.matchAll(/`((?:npx )?isolde [a-z][^`]*)`/g)].map(([, span]) => span!);
      for (const span of spans) {
        const line = span.replace(/^npx /, '').replace(/\s+#.*$/, '');
        const args = wordsOf(line.split(' | ')[0]!).slice(1);
        if (inBlock || isWhole(args)) found.push({ where: `${page}:${i + 1}`, line, args });
      }
    });
  return found;
}

/** Between backticks, `isolde reduce` or `isolde bugs ignore ID` names a command; it is no command line. */
function isWhole(args: readonly string[]): boolean {
  const rest = args.slice(args[0] === 'bugs' ? 2 : 1);
  return rest.length > 0 && !rest.some(isPlaceholder) && !rest.at(-1)!.startsWith('-');
}

const isPlaceholder = (word: string) => /^[A-Z]{2,}[^a-z]*$|…|\[|\\\|/.test(word);

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
  'mine.json': () => file('mine.json', '{ "format": "isolde-profile", "version": 1, "name": "mine" }'),
  'postgres://me@localhost/app': () => server!.url,
  'postgres://tester:secret@127.0.0.1:5432/shop': () => server!.url,
  'postgres://ci@localhost/test': () => server!.url,
  'postgres://tester@localhost/shop': () => server!.url,
};
/** Files that a command writes go to a folder of the test's. */
const written =
  /^(?:schedule\.case\.json|big\.case\.json|bugs\.xml|properties\.xml|toy\.capabilities\.json|history\.jsonl|proof\.json|plume\.history\.jsonl\.gz)$/;

/** What cannot run here, and why. */
const notHere: readonly { readonly line: RegExp; readonly why: string }[] = [
  {
    line: /tidb_42487/,
    why: 'reads the published trace of another project (test/mechanism-tidb.test.ts does)',
  },
  { line: /\?package=(turso-0-4|duckdb-1-3)/, why: 'needs an older release, installed under another name' },
  {
    line: /@\d|--fetch|--published/,
    why: 'needs a version that is not installed, or the network (src/targets/versions does without both)',
  },
  {
    line: /\b(?:mysql|tidb):(?!\/)/,
    why: 'needs a server of scripts/engines (test/hunt.test.ts hunts in one)',
  },
  { line: /process=own/, why: 'starts the built program beside it (test/hunt-processes.test.ts does)' },
  { line: /^isolde demo/, why: 'is run by test/hunt.test.ts' },
  { line: /duckdb-missed-conflict-796e85d9/, why: 'is run by test/printed-samples.test.ts' },
  { line: /^isolde fleet|postgres:\/\/…/, why: 'needs a fleet (src/fleet/fleet.test.ts has one)' },
  { line: /^isolde studio/, why: 'runs until it is stopped (test/bundle.test.ts does so)' },
];

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function prepared(args: readonly string[]): string[] {
  const command = args[0]!;
  const words = args.map((word, i) => {
    if (args[i - 1] === '--for') return '2s';
    if (args[i - 1] === '--runs') return '3';
    if (Object.hasOwn(replaced, word)) return replaced[word]!();
    return written.test(word) ? join(folder, word) : word;
  });
  if (command === 'hunt' && !words.includes('--for')) words.push('--for', '2s');
  if (['hunt', 'bugs', 'matrix', 'property'].includes(command)) words.push('--store', store);
  return words;
}

const store = join(folder, 'store');
let server: (PrivateServer & { readonly url: string }) | undefined;

beforeAll(async () => {
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

describe('command lines in the documentation', () => {
  it('are found', () => {
    expect(commands.length).toBeGreaterThan(40);
  });

  const once = [...new Map(commands.map((command) => [command.line, command])).values()];
  for (const { where, line, args } of once) {
    const missing = notHere.find((entry) => entry.line.test(line))?.why ?? missingEngine(line);
    it.skipIf(missing !== undefined)(
      `${where}: ${line}${missing === undefined ? '' : ` (${missing})`}`,
      async () => {
        const { code, err } = await isolde(prepared(args));
        expect(code, err).not.toBe(3);
      },
      120_000,
    );
  }
});

function missingEngine(line: string): string | undefined {
  // Debian has the library in a package of its own.
  if (line.includes('cluster:mariadb')) return galeraAvailable();
  if (enginesRequired) return undefined;
  if (/postgres:|cluster:postgres/.test(line)) return postgresAvailable();
  if (line.includes('mariadb:')) return mariadbAvailable();
  const jdbc = /\b(h2|hsqldb|derby):/.exec(line)?.[1];
  return jdbc === undefined ? undefined : missingJdbcEngine(jdbc);
}
