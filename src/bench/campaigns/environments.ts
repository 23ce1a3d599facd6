/**
 * `npm run campaign environments`: a fresh clone, installed and used as root and as an ordinary user, with umask 022 and
 * 077, in Turkish, in Tokyo, with a home that cannot be written. In each, `isolde demo` must find its bug, a private
 * PostgreSQL must start, and the tests that depend on letters, times and files must pass. As root with
 * umask 077, and in the last one, all of that at once, it is the whole of `npm test`.
 *
 * The page says which commit was cloned for each row: with `--only` the other rows stay as they are.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CampaignTable } from './table.js';

/** An ordinary user of every system. */
const nobody = 65534;

interface Environment {
  readonly name: string;
  readonly user: 'root' | 'ordinary';
  readonly umask: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly readOnlyHome?: boolean;
  /** `npm test` instead of the few tests. */
  readonly wholeSuite?: boolean;
}

const list: readonly Environment[] = [
  { name: 'root, umask 022', user: 'root', umask: '022' },
  { name: 'root, umask 077', user: 'root', umask: '077', wholeSuite: true },
  { name: 'ordinary user, umask 022', user: 'ordinary', umask: '022' },
  { name: 'ordinary user, umask 077', user: 'ordinary', umask: '077' },
  {
    name: 'LANG=tr_TR.UTF-8',
    user: 'root',
    umask: '022',
    variables: { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  },
  { name: 'TZ=Asia/Tokyo', user: 'root', umask: '022', variables: { TZ: 'Asia/Tokyo' } },
  { name: 'read-only home', user: 'ordinary', umask: '022', readOnlyHome: true },
  {
    name: 'all at once',
    user: 'ordinary',
    umask: '077',
    variables: { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', TZ: 'Asia/Tokyo' },
    readOnlyHome: true,
    wholeSuite: true,
  },
];

/** What is done in each, and the exit codes it may end with. */
const steps: readonly (readonly [name: string, command: string, codes: readonly number[]])[] = [
  ['demo', 'npx isolde demo', [1]],
  ['probe postgres:', 'npx isolde probe postgres: --anomaly G0', [0]],
  ['probe sqlite:', 'npx isolde probe sqlite: --anomaly G0', [0]],
  [
    'tests',
    'npx vitest run src/sql src/cases src/contracts src/store/store.test.ts src/visible.test.ts src/secrets.test.ts src/targets/sqlite',
    [0],
  ],
];

/** As CI runs it: what fails beside other tests is tried alone (docs/decisions/ci-reruns.md). */
const wholeSuite =
  'npm test -- --reporter=default --reporter=json --outputFile.json=build/test-results.json || node scripts/rerun-failed.mjs build/test-results.json';
/** What the second of these says before the tests that failed at first. */
export const ranAgain = 'These failed beside other tests and passed alone; each is a place to look:';

export interface EnvironmentsOptions {
  /** Only environments whose name begins so. */
  readonly only?: string | undefined;
  /** No environment is begun after so many minutes; default: all are tried. */
  readonly minutes?: number | undefined;
  /** The page so far: rows of environments that are not tried now stay. */
  readonly page?: string | undefined;
}

export function environments({ only = '', minutes, page = '' }: EnvironmentsOptions): CampaignTable {
  const end = performance.now() + (minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const top = mkdtempSync(join(tmpdir(), 'isolde-environments-'));
  chmodSync(top, 0o755);
  const failures: string[] = [];
  const rows: (readonly string[])[] = [];
  const commit = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], { encoding: 'utf8' }).trim();
  const kept = keptRows(page);
  try {
    for (const environment of list) {
      const { name } = environment;
      const before = kept.get(name);
      if (name.startsWith(only) && performance.now() <= end) {
        console.error(name);
        rows.push([...tryEnvironment(environment, top, failures), commit]);
      } else if (before !== undefined) {
        rows.push(before.row);
        failures.push(...before.failures);
      } else rows.push([name, 'not run', ...steps.map(() => 'not run'), '', '']);
    }
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
  return {
    name: 'environments',
    title: 'Environments',
    about:
      'A fresh clone of this repository is installed with `npm ci` and used in each environment. A failure is another exit code than expected. *All*: the whole of `npm test`; *only alone*: tests that failed beside others and passed when their files ran once more, as in [CI](../decisions/ci-reruns.md). Engines in a cache at home are not there.',
    command: 'npm run campaign environments',
    heads: ['environment', 'npm ci', ...steps.map(([name]) => name), 'failures', 'commit'],
    rows,
    failures,
  };
}

interface KeptRow {
  readonly row: readonly string[];
  readonly failures: readonly string[];
}

/** The rows of a page, by environment, that were run. */
export function keptRows(page: string): ReadonlyMap<string, KeptRow> {
  const lines = page.split('\n');
  return new Map(
    list.flatMap(({ name }) => {
      const line = lines.find((each) => each.startsWith(`| ${name} |`));
      const row = line
        ?.split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      if (row === undefined || row.includes('not run')) return [];
      const failures = lines.filter((each) => each.startsWith(`- ${name}, `)).map((each) => each.slice(2));
      return [[name, { row, failures }] as const];
    }),
  );
}

function tryEnvironment(environment: Environment, top: string, failures: string[]): string[] {
  const place = mkdtempSync(join(top, 'place-'));
  // A server that root starts runs as another user, who must be able to come here.
  chmodSync(place, 0o755);
  const home = join(place, 'home');
  mkdirSync(home);
  mkdirSync(join(place, 'tmp'));
  const identity = environment.user === 'root' ? {} : { uid: nobody, gid: nobody };
  // git lets nobody clone from a repository of another user: we clone, and give it away.
  const clone = `umask ${environment.umask}; git clone -q --no-hardlinks "$1" clone`;
  spawnSync('sh', ['-c', clone, 'sh', process.cwd()], { cwd: place, stdio: 'inherit' });
  if (environment.user === 'ordinary') spawnSync('chown', ['-R', `${nobody}:${nobody}`, place]);
  if (environment.readOnlyHome === true) spawnSync('chown', ['0:0', home]);
  const does = (command: string): { code: number; said: string } => {
    const run = spawnSync('sh', ['-c', `umask ${environment.umask}; ${command}`], {
      ...identity,
      cwd: join(place, 'clone'),
      encoding: 'utf8',
      timeout: 3_600_000,
      maxBuffer: 64 * 1024 ** 2,
      env: variablesOf(environment, home, place),
    });
    return { code: run.status ?? -1, said: `${run.stdout ?? ''}${run.stderr ?? ''}`.trim() };
  };
  const wanted = [['npm ci', 'npm ci --no-audit --no-fund', [0]] as const, ...steps];
  let failed = 0;
  const cells = wanted.map(([name, usual, codes]) => {
    const isWhole = name === 'tests' && environment.wholeSuite === true;
    const { code, said } = does(isWhole ? wholeSuite : usual);
    if (codes.includes(code)) {
      if (!isWhole) return 'ok';
      const again = said.split(`${ranAgain}\n`)[1]?.match(/^ {2}\S/gm)?.length;
      return again === undefined ? 'ok, all' : `ok, all, ${again} only alone`;
    }
    failed++;
    console.error(said);
    failures.push(
      `${environment.name}, ${name}: exit code ${code}: ${said.slice(-300).replaceAll(/\s+/g, ' ')}`,
    );
    return `exit code ${code}`;
  });
  rmSync(place, { recursive: true, force: true });
  return [environment.name, ...cells, String(failed)];
}

function variablesOf({ variables }: Environment, home: string, place: string): NodeJS.ProcessEnv {
  const { PATH, npm_config_registry: registry, NODE_EXTRA_CA_CERTS: certificates } = process.env;
  return {
    PATH,
    HOME: home,
    TMPDIR: join(place, 'tmp'),
    // A home that cannot be written has no room for npm's cache.
    npm_config_cache: join(place, 'tmp', 'npm'),
    ...(registry !== undefined && { npm_config_registry: registry }),
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: certificates }),
    ...variables,
  };
}
