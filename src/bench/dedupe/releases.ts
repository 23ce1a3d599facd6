/**
 * The releases that a question has: what is published of an engine, in an order, each with one bug or none.
 *
 * An injected bug is in two of them: in the newest, where it was found, and in an older one, against which its report is filed. The older ones make one line in an order drawn
 * by chance, each with the fault of another cause and nothing before and after, so that every bug comes with one release and is gone with the
 * next. All questions get the same line; a report names the release it was filed against, as reports do, and nothing says what is in a release.
 *
 * A live bug has the builds that really are there (`causes.ts`).
 */
import { Random } from '../../generate/index.js';
import { type Build, type KnownBug, versionsForReport } from '../../known/index.js';
import type { LabelledCause } from './causes.js';
import type { LabelledItem } from './labelled-set.js';
import type { BuildSpec, Runs } from './runs.js';

interface Release extends BuildSpec {
  readonly version: string;
}

/** The release where injected bugs are found, and the one before it, which has none. */
const newest = '1000.0';
const healthy = '999.0';

export class Releases {
  readonly #lines = new Map<string, readonly Release[]>();
  readonly #causes: ReadonlyMap<string, LabelledCause>;

  /** `older`: other releases of an engine that the older ones are made of, by its URL. */
  constructor(causes: readonly LabelledCause[], older: ReadonlyMap<string, string> = new Map()) {
    this.#causes = new Map(causes.map((cause) => [cause.id, cause]));
    const engines = new Set(
      causes.flatMap(({ fault, engines: [url] }) => (fault === undefined ? [] : [url!])),
    );
    for (const engine of engines) {
      const url = older.get(engine) ?? engine;
      const faults = causes.filter((cause) => cause.fault !== undefined && cause.engines[0] === engine);
      const order = new Random(`releases of ${engine}`).shuffle(faults.map(({ fault }) => fault));
      const line = [undefined, ...order, undefined].map((fault, i) => ({
        version: `${i + 1}.0`,
        url,
        fault,
      }));
      this.#lines.set(engine, [...line, { version: healthy, url: engine }]);
    }
  }

  cause(item: Pick<LabelledItem, 'cause'>): LabelledCause {
    return this.#causes.get(item.cause)!;
  }

  /** Where a bug was found. */
  home(item: LabelledItem): Release {
    const { fault } = this.cause(item);
    return { version: fault === undefined ? item.target.version : newest, url: item.engine, fault };
  }

  /** What its report is filed against. */
  filed(item: LabelledItem): Release {
    const { fault } = this.cause(item);
    return (
      this.#lines.get(item.engine)?.find((release) => fault !== undefined && release.fault === fault) ??
      this.home(item)
    );
  }

  /** What the bug’s stamp says: nothing of a fault. */
  stamp(item: LabelledItem): LabelledItem['target'] {
    const { settings: { fault: _, ...settings } = {}, name } = item.target;
    return { name, version: this.home(item).version, settings };
  }

  /** The builds on which a bug and a report are compared: for `--versions reported`, the releases that the report names, and their neighbours. */
  async buildsFor(bug: LabelledItem, filed: LabelledItem, report: KnownBug, runs: Runs): Promise<Build[]> {
    const line = this.#lines.get(filed.engine);
    const { fault, builds: live = [] } = this.cause(filed);
    if (line === undefined || fault === undefined) return this.#liveBuilds(live, this.home(bug), runs);
    const versions = versionsForReport(report, [...line.map(({ version }) => version), newest]);
    const chosen = line.filter(({ version }) => versions.includes(version) || version === healthy);
    const found: Build[] = [];
    for (const release of chosen) {
      const stamp = { ...this.stamp(bug), version: release.version };
      found.push({ ...(await runs.place(release, release.version)), stamp });
    }
    return found;
  }

  async #liveBuilds(urls: readonly string[], home: Release, runs: Runs): Promise<Build[]> {
    const found: Build[] = [];
    for (const url of urls) {
      if (url === home.url && home.fault === undefined) continue;
      found.push(await runs.place({ url }, url));
    }
    return found;
  }
}
