/** Runs a matrix for a command: with progress, with results kept for the next run, and into the store. */
import { join } from 'node:path';
import { IsoldeError } from '../errors.js';
import {
  type Cell,
  type MatrixOptions,
  namePlace,
  type Place,
  placesOf,
  readJournal,
  type Subject,
  versionTried,
  writeJournal,
} from '../matrix/index.js';
import { type BugStore, isSharedUrl, openBugStore } from '../store/index.js';
import { fetchVersion, listLocal, listPublished } from '../targets/index.js';
import { oneLine } from '../visible.js';
import type { CliContext } from './context.js';
import { mayFetch, showProgress } from './fetch-versions.js';
import { positive } from './flags.js';

/** What commands that run a matrix share. */
export interface MatrixRunFlags {
  readonly store: string;
  readonly runs: string;
  readonly jobs: string;
  readonly record?: boolean;
  readonly restart?: boolean;
  readonly fetch?: boolean;
  readonly trustCase?: boolean;
}

/** The places that `--targets`, `--versions` and `--settings` name. */
export function readPlaces(
  targets: readonly string[],
  flags: { readonly versions?: string; readonly settings?: readonly string[] },
  context: CliContext,
): Promise<Place[]> {
  const { signal } = context;
  const { versions, settings } = flags;
  return placesOf({
    targets,
    ...(versions !== undefined && { versions: versions.split(',').map((text) => text.trim()) }),
    ...(settings !== undefined && { settings }),
    published: async (engine) => (await listPublished(engine, { signal })).map(({ version }) => version),
    local: async (engine) => (await listLocal(engine)).map(({ version }) => version),
  });
}

/** Calls `run` with the options of a matrix, and writes down what it finds: for the next run, and into the store's bugs. */
export async function withMatrix<T>(
  subjects: readonly Subject[],
  flags: MatrixRunFlags,
  context: CliContext,
  run: (options: MatrixOptions) => Promise<T>,
): Promise<T> {
  const [runs, jobs] = [positive(flags.runs, '--runs'), positive(flags.jobs, '--jobs')];
  const journal = isSharedUrl(flags.store) ? undefined : join(flags.store, 'matrix.jsonl');
  const taken =
    journal === undefined || flags.restart === true
      ? new Map()
      : await readJournal(journal, (why) => context.err(`isolde: ${why}`));
  const stored = new Set(subjects.flatMap((subject) => (subject.kind === 'bug' ? [subject.id] : [])));
  const store = stored.size > 0 && flags.record !== false ? await openBugStore(flags.store) : undefined;
  // One after another: cells of several places end at the same time.
  let writing: Promise<void> = Promise.resolve();
  let done = 0;
  const onCell: MatrixOptions['onCell'] = (cell, key, wasTaken) => {
    context.err(`${++done}  ${wasTaken ? 'kept  ' : ''}${describeCell(cell)}`);
    if (wasTaken) return;
    writing = writing.then(async () => {
      if (journal !== undefined) await writeJournal(journal, key, cell);
      if (store !== undefined && stored.has(cell.subject)) await record(store, cell);
    });
    // Reported below, once the cells that run now have ended.
    writing.catch(() => undefined);
  };
  const { signal } = context;
  const fetch = flags.fetch === true || mayFetch(context);
  try {
    return await run({
      runs,
      jobs,
      signal,
      taken,
      onCell,
      trust: flags.trustCase === true,
      ...(fetch && {
        prepare: (url: string) => fetchVersion(url, { signal, onProgress: showProgress(context) }),
      }),
    });
  } finally {
    await writing.finally(() => store?.close());
  }
}

async function record(store: BugStore, cell: Cell): Promise<void> {
  const tried = versionTried(cell, new Date());
  if (tried === undefined) return;
  try {
    await store.recordRun(cell.subject, tried);
  } catch (error) {
    // A bug from another store than the one that is written to.
    if (!(error instanceof IsoldeError) || error.code === 'file-system') throw error;
  }
}

function describeCell({ subject, place, level, result }: Cell): string {
  const { outcome, shown, runs, why } = result;
  const words = {
    shows: `shows ${shown}/${runs}`,
    'does-not-show': 'does not show',
    undecided: 'undecided',
    'cannot-run': 'cannot run',
  };
  const at = level === undefined ? '' : ` at ${level}`;
  return oneLine(
    `${namePlace(place)}${at}  ${subject}: ${words[outcome]}${outcome === 'shows' ? '' : `, ${why}`}`,
  );
}
