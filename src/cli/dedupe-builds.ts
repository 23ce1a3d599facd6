/**
 * `isolde dedupe BUG --versions … --settings …`: the other builds on which the bug and the reports are compared. `--versions reported` takes for each report those that
 * it names, and their neighbours. Each is opened when the first report needs it; one that cannot be opened is named, and left out.
 */
import type { Case } from '../cases/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { Database } from '../judge/index.js';
import { type Build, type BuildsFor, type KnownBug, versionsForReport } from '../known/index.js';
import { namePlace, type Place } from '../matrix/index.js';
import {
  admit,
  fetchVersion,
  listLocal,
  listPublished,
  openTarget,
  sqlOfCase,
  type Target,
} from '../targets/index.js';
import { oneLine } from '../visible.js';
import type { CliContext } from './context.js';
import { asksForMatrix, type WitnessFlags } from './dedupe-matrix.js';
import { mayFetch, showProgress } from './fetch-versions.js';
import { admitKnown } from './known-command.js';
import { readPlaces } from './matrix-run.js';

/** Where the bug shows; a place with the same version and settings would tell nothing new. */
export interface Home {
  readonly url: string | undefined;
  readonly target: Target;
  /** The bug’s own. */
  readonly case: Case;
}

export async function withBuilds<T>(
  home: Home,
  flags: WitnessFlags,
  context: CliContext,
  use: (builds: BuildsFor) => Promise<T>,
): Promise<T> {
  if (!asksForMatrix(flags)) return use(async () => []);
  const builds = new OpenBuilds(home, flags, context);
  try {
    return await use((report) => builds.of(report));
  } finally {
    await builds.close();
  }
}

class OpenBuilds {
  /** By URL; undefined: it cannot be opened, or must not run the bug. */
  readonly #builds = new Map<string, Promise<Build | undefined>>();
  readonly #databases: Database[] = [];
  #published: Promise<readonly string[]> | undefined;

  constructor(
    private readonly home: Home,
    private readonly flags: WitnessFlags,
    private readonly context: CliContext,
  ) {}

  async of(report: KnownBug): Promise<Build[]> {
    const usable: Build[] = [];
    for (const place of await this.#placesFor(report)) {
      const opened = this.#builds.get(place.url) ?? this.#open(place);
      this.#builds.set(place.url, opened);
      const build = await opened;
      if (build === undefined) continue;
      const admitted = await isAdmitted(() =>
        admitKnown(build.target, report, this.flags.trustCase === true),
      );
      if (admitted === true) usable.push(build);
    }
    return usable;
  }

  async #placesFor(report: KnownBug): Promise<Place[]> {
    const { flags, context, home } = this;
    const targets = flags.targets ?? [home.url ?? 'duckdb:'];
    if (flags.versions !== 'reported') return readPlaces(targets, flags, context);
    this.#published ??= this.#versionsOf(home.target.name);
    const versions = versionsForReport(report, await this.#published);
    return versions.length === 0
      ? []
      : readPlaces(targets, { ...flags, versions: versions.join(',') }, context);
  }

  /** Those that could be fetched; without leave to fetch, those that are here. */
  async #versionsOf(engine: string): Promise<readonly string[]> {
    const { flags, context } = this;
    const { signal } = context;
    if (flags.fetch !== true && !mayFetch(context))
      return (await listLocal(engine)).map(({ version }) => version);
    return (await listPublished(engine, { signal })).map(({ version }) => version);
  }

  async #open(place: Place): Promise<Build | undefined> {
    const { flags, context, home } = this;
    const { signal } = context;
    const leftOut = (why: string) => context.err(`isolde: ${namePlace(place)} is left out: ${oneLine(why)}`);
    let database: Database;
    try {
      if (flags.fetch === true || mayFetch(context))
        await fetchVersion(place.url, { signal, onProgress: showProgress(context) });
      database = await Database.open({ open: () => openTarget(place.url), signal });
    } catch (error) {
      if (!(error instanceof IsoldeError)) throw error;
      leftOut(errorText(error));
      return undefined;
    }
    this.#databases.push(database);
    const { target } = database;
    if (isSameBuild(target, home.target)) return undefined;
    const admitted = await isAdmitted(() =>
      admit(target, sqlOfCase(home.case), { trust: flags.trustCase === true, source: home.case.name }),
    );
    if (admitted !== true) {
      leftOut(admitted);
      return undefined;
    }
    const observe: Build['observe'] = (request) => database.observe(request, 0);
    return { name: namePlace(place), target, observe };
  }

  async close(): Promise<void> {
    for (const database of this.#databases) await database.close();
  }
}

/** True, or why not. */
async function isAdmitted(ask: () => Promise<void>): Promise<true | string> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (!(error instanceof IsoldeError) || error.code !== 'safety') throw error;
    return error.message;
  }
}

function isSameBuild({ stamp: a }: Target, { stamp: b }: Target): boolean {
  const of = ({ name, version, settings = {} }: Target['stamp']) =>
    JSON.stringify([
      name,
      version,
      Object.entries(settings)
        .filter(([name]) => name !== 'process')
        .sort(),
    ]);
  return of(a) === of(b);
}
