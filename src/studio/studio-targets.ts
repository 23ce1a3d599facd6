/**
 * The databases that pages may use: those whose URLs whoever started the studio gave, and those that need no server of the user's. A page
 * names them by their number here and never by a URL: what a page sends opens no connection and starts no program of its choice.
 */
import { IsoldeError } from '../errors.js';
import { type Bug, foundUrl, homeUrl, nameEngine } from '../report/index.js';
import { hideSecrets } from '../secrets.js';
import { declarationOfScheme, openTarget, type Target, targetDeclarations } from '../targets/index.js';

export interface TargetChoice {
  readonly id: string;
  /** The URL without passwords. */
  readonly url: string;
  readonly title: string;
}

export class StudioTargets {
  readonly #urls: readonly string[];

  constructor(private readonly given: readonly string[] = []) {
    // Embedded, or as a private server.
    const usual = targetDeclarations.flatMap(({ name, privateUrl }) =>
      privateUrl === undefined ? [] : [`${name}:`],
    );
    this.#urls = [...new Set([...given, ...usual])];
  }

  get choices(): readonly TargetChoice[] {
    return this.#urls.map((url, i) => {
      const name = schemeOf(url);
      const title = declarationOfScheme(name)?.title ?? name;
      return { id: String(i), url: hideSecrets(url), title };
    });
  }

  open(id: string): Promise<Target> {
    const url = this.#urls[Number(id)];
    if (url === undefined) throw new IsoldeError('usage', `there is no target "${id}"`);
    return openTarget(url);
  }

  /** The database to try a script on when nobody says which: the embedded default. */
  openUsual(): Promise<Target> {
    return openTarget(undefined);
  }

  /**
   * A database like the one a bug was found on: one that whoever started the studio gave, of the same engine, version and settings;
   * else the bug's own home; else, where it has none, a given one of its engine.
   */
  async openFor(bug: Pick<Bug, 'target'>): Promise<Target> {
    const { name, version } = bug.target;
    // Of an adapter's URL only the adapter knows what is behind it.
    const given = this.given.filter((url) => {
      const declared = declarationOfScheme(schemeOf(url));
      return declared?.name === name || declared?.dialect === undefined;
    });
    const home = foundUrl(bug);
    for (const url of given) {
      const target = await openTarget(url);
      const { stamp } = target;
      const same = stamp.version === version && homeUrl({ target: stamp }) === homeUrl(bug);
      if (target.name === name && (home === undefined || same)) return target;
      await target.close();
    }
    if (home !== undefined) return openTarget(home);
    throw new IsoldeError(
      'usage',
      `${nameEngine(name)} cannot be started here: give the studio a server of it with --target`,
    );
  }
}

/** `h2` of `h2:`, `mariadb` of `mariadb@11.8:`. */
function schemeOf(url: string): string {
  return /^[a-z][a-z0-9]*/i.exec(url)?.[0].toLowerCase() ?? '';
}
