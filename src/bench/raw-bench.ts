/**
 * `npm run bench raw [-- --sizes 5000,10000,20000 --bugs NAME,… --replays 20 --random 20 --out FILE]`: from free runs of thousands of
 * operations to minimal cases, each bug at each size, one row of a table each. With `--out` the table is written as
 * the page `docs/stages/raw-runs.md`. It takes minutes: a raw run is replayed forty times in full.
 */
import { writeFile } from 'node:fs/promises';
import { IsoldeError } from '../errors.js';
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
  readonly out?: string;
}

export async function benchRaw(args: readonly string[]): Promise<Figure[]> {
  const options = readOptions(args);
  const engines = new Engines();
  const results: RawRunResult[] = [];
  const versions = new Map<string, string>();
  try {
    for (const bug of options.bugs) {
      for (const operations of options.sizes) {
        const title = `${bug.name}, ${operations} operations`;
        const result = await measureRawRun({
          ...{ bug, operations, ...options },
          open: async () => {
            const target = await engines.open(bug.engine);
            versions.set(target.stamp.name, target.stamp.version ?? '');
            return target;
          },
          progress: progressLine(title),
        });
        results.push(result);
        process.stderr.write(`\r\u001b[K${renderRow(result)}\n`);
        if (options.out !== undefined) await writeFile(options.out, renderTable(results, versions, args));
      }
    }
  } finally {
    await engines.stop();
  }
  return results.map((result) => figureOf(result));
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

function readOptions(args: readonly string[]): RawOptions {
  const given = new Map<string, string>();
  for (let i = 0; i < args.length; i += 2) {
    const [name, value] = [args[i]!, args[i + 1]];
    if (!/^--(sizes|bugs|replays|random|seed|out)$/.test(name) || value === undefined) {
      throw new IsoldeError(
        'usage',
        `bench raw does not know "${name}${value === undefined ? '' : ` ${value}`}"; it takes --sizes N,N --bugs NAME,NAME --replays N --random N --seed N --out FILE`,
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
  const out = given.get('out');
  return {
    ...{ sizes: numbers('sizes', '5000,10000,20000'), bugs },
    ...{ replays: numbers('replays', '20')[0]!, randomReplays: numbers('random', '20')[0]! },
    seed: numbers('seed', '1')[0]!,
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
