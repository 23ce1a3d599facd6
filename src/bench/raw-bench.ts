/**
 * `npm run bench raw [-- --sizes 5000,10000,20000 --bugs NAME,… --replays 20 --random 10 --results FILE --out FILE]`: from free
 * runs of thousands of operations to minimal cases, each bug at each size, one row of a table each. `--out` writes the
 * page `docs/stages/raw-runs.md`. It takes an hour, for every raw run is replayed thirty times in full: rows measured are
 * kept in the `--results` file, and a run that was interrupted goes on after the last of them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { errorText, IsoldeError } from '../errors.js';
import { openTarget, type Target } from '../targets/index.js';
import { startMariadbServer } from '../targets/mariadb/index.js';
import { startPostgresServer } from '../targets/postgres/index.js';
import type { Figure } from './measure.js';
import { type RawBug, type RawEngine, rawBugs } from './raw-bugs.js';
import { measureRawRun, type RawRunResult } from './raw-run.js';
import { missedTargets, renderRow, renderTable } from './raw-table.js';

interface RawOptions {
  readonly sizes: readonly number[];
  readonly bugs: readonly RawBug[];
  readonly replays: number;
  readonly randomReplays: number;
  readonly seed: number;
  readonly results?: string;
  readonly out?: string;
}

/** What the results file holds. */
interface Measured {
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly (RawRunResult & { readonly replays: number })[];
}

export async function benchRaw(args: readonly string[]): Promise<Figure[]> {
  const options = readOptions(args);
  const engines = new Engines();
  let measured = await readMeasured(options.results);
  // A file that cannot be written is reported before an hour is spent.
  if (options.results !== undefined) await keep(options.results, measured);
  const shown: RawRunResult[] = [];
  try {
    for (const bug of options.bugs) {
      for (const operations of options.sizes) {
        const known = measured.rows.find(
          (row) => row.bug.name === bug.name && row.asked === operations && row.replays === options.replays,
        );
        const versions: Record<string, string> = {};
        const result =
          known ??
          (await measureRawRun({
            ...{ bug, operations, ...options },
            open: async () => {
              const target = await engines.open(bug.engine);
              versions[target.stamp.name] = target.stamp.version;
              return target;
            },
            progress: progressLine(`${bug.name}, ${operations} operations`),
          }));
        shown.push(result);
        process.stderr.write(`\r\u001b[K${renderRow(result)}\n`);
        if (known !== undefined) continue;
        const row = { ...result, replays: options.replays };
        measured = { versions: { ...measured.versions, ...versions }, rows: [...measured.rows, row] };
        if (options.results !== undefined) await keep(options.results, measured);
      }
    }
    if (options.out !== undefined) await writeFile(options.out, renderTable(shown, measured.versions));
  } finally {
    await engines.stop();
  }
  return shown.map((result) => figureOf(result));
}

async function readMeasured(file: string | undefined): Promise<Measured> {
  const none: Measured = { versions: {}, rows: [] };
  if (file === undefined) return none;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new IsoldeError('usage', `${file} cannot be read: ${error.message}`);
  });
  if (text === undefined) return none;
  try {
    return JSON.parse(text) as Measured;
  } catch {
    throw new IsoldeError('usage', `${file} holds no results of this benchmark; name another file`);
  }
}

function figureOf(result: RawRunResult): Figure {
  const missed = missedTargets(result);
  return {
    name: `${result.bug.name}, ${result.asked} operations`,
    measured: renderRow(result),
    target: missed.length === 0 ? '' : missed.join('; '),
    pass: missed.length === 0,
  };
}

async function keep(file: string, measured: Measured): Promise<void> {
  try {
    await writeFile(file, JSON.stringify(measured));
  } catch (error) {
    throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}

function readOptions(args: readonly string[]): RawOptions {
  const given = new Map<string, string>();
  for (let i = 0; i < args.length; i += 2) {
    const [name, value] = [args[i]!, args[i + 1]];
    if (!/^--(sizes|bugs|replays|random|seed|results|out)$/.test(name) || value === undefined) {
      throw new IsoldeError(
        'usage',
        `bench raw does not know "${name}${value === undefined ? '' : ` ${value}`}"; it takes --sizes N,N --bugs NAME,NAME --replays N --random N --seed N --results FILE --out FILE`,
      );
    }
    given.set(name.slice(2), value);
  }
  const numbers = (name: string, fallback: string) =>
    (given.get(name) ?? fallback).split(',').map((text) => {
      if (!/^[1-9]\d{0,6}$/.test(text))
        throw new IsoldeError('usage', `--${name} ${text} is not a whole number`);
      return Number(text);
    });
  const names = given.get('bugs')?.split(',') ?? rawBugs.map(({ name }) => name);
  const bugs = names.map((name) => {
    const bug = rawBugs.find((each) => each.name === name);
    if (bug !== undefined) return bug;
    const known = rawBugs.map((each) => each.name).join(', ');
    throw new IsoldeError('usage', `no bug is called ${name}; there are ${known}`);
  });
  const [results, out] = [given.get('results'), given.get('out')];
  return {
    ...{ sizes: numbers('sizes', '5000,10000,20000'), bugs },
    ...{ replays: numbers('replays', '20')[0]!, randomReplays: numbers('random', '10')[0]! },
    seed: numbers('seed', '1')[0]!,
    ...(results !== undefined && { results }),
    ...(out !== undefined && { out }),
  };
}

/** The servers of a run, each started when the first bug needs it. */
class Engines {
  readonly #urls = new Map<RawEngine, Promise<string>>();
  readonly #stops: (() => Promise<unknown>)[] = [];

  async open(engine: RawEngine): Promise<Target> {
    let url = this.#urls.get(engine);
    if (url === undefined) {
      url = this.#start(engine);
      this.#urls.set(engine, url);
    }
    return openTarget(await url);
  }

  async #start(engine: RawEngine): Promise<string> {
    switch (engine) {
      case 'duckdb':
        return 'duckdb:';
      case 'mariadb': {
        const server = await startMariadbServer();
        this.#stops.push(() => server.stop());
        return `mariadb://root@localhost/?socket=${server.address.socket}`;
      }
      case 'postgres': {
        const server = await startPostgresServer({ settings: {}, startTimeoutMs: 30_000 });
        this.#stops.push(() => server.stop());
        const { user, password } = server.login;
        return `postgres://${user}:${encodeURIComponent(password)}@${server.host}:${server.port}/postgres`;
      }
      default:
        return engine satisfies never;
    }
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }
}

/** On a terminal one line that changes; in a log a line for each step, not for each replay. */
function progressLine(title: string): (text: string) => void {
  let step = '';
  return (text) => {
    if (process.stderr.isTTY === true) process.stderr.write(`\r\u001b[K${title}: ${text}`);
    else if (text.split(' ')[0] !== step) process.stderr.write(`${title}: ${text}\n`);
    step = text.split(' ')[0]!;
  };
}
