/** The places of a matrix: targets × versions × settings, as URLs. */
import { IsoldeError } from '../errors.js';
import { hideSecrets } from '../secrets.js';
import { declarationOfScheme, normalizeUrl, splitVersion, withVersion } from '../targets/index.js';
import { compareVersions, isRelease, isVersion } from '../versions.js';
import type { Place } from './cell.js';

export interface PlacesOptions {
  readonly targets: readonly string[];
  /** `1.1.3`, `1.1..1.4` (both ends included), `all` (that npm has), `local` (on this machine); default: what the target names. */
  readonly versions?: readonly string[];
  /** `mode=wal,mvcc`, or `all`: the engine's own table. */
  readonly settings?: readonly string[];
  /** Versions of an engine, oldest first. */
  readonly published: (engine: string) => Promise<readonly string[]>;
  readonly local: (engine: string) => Promise<readonly string[]>;
}

/** Targets in the order given, versions from the oldest, settings in the order given. */
export async function placesOf(options: PlacesOptions): Promise<Place[]> {
  const places: Place[] = [];
  for (const given of options.targets) {
    const url = normalizeUrl(given);
    const scheme = splitVersion(url)?.scheme ?? url.split(':')[0]!.toLowerCase();
    const declaration = declarationOfScheme(scheme);
    const engine = declaration?.name ?? scheme;
    const axes = settingsOf(options.settings ?? [], declaration?.settings ?? {});
    for (const version of await versionsOf(url, engine, options)) {
      for (const settings of combinations(axes)) {
        const named = withSettings(version === undefined ? url : withVersion(url, version), settings);
        const shown = hideSecrets(withVersion(named, undefined)).slice(scheme.length);
        places.push({
          url: named,
          engine,
          ...(version !== undefined && { version }),
          settings: shown.replace(/^:\??/, '').replaceAll('&', ' '),
        });
      }
    }
  }
  return [...new Map(places.map((place) => [place.url, place])).values()];
}

/** The versions of one target; undefined: the one that is installed. */
async function versionsOf(
  url: string,
  engine: string,
  { versions, published, local }: PlacesOptions,
): Promise<(string | undefined)[]> {
  const named = splitVersion(url)?.version;
  if (named !== undefined) return [named];
  if (versions === undefined || versions.length === 0) return [undefined];
  const isOnNpm = declarationOfScheme(engine)?.releases !== undefined;
  // What is on this machine of an engine that npm does not have is the one that is installed.
  if (!isOnNpm && versions.every((asked) => asked === 'local')) return [undefined];
  if (!isOnNpm)
    throw new IsoldeError(
      'usage',
      `npm has no versions of ${engine}: name its targets one by one, without --versions`,
    );
  const found = new Set<string>();
  for (const asked of versions) {
    const [low, high] = asked.split('..');
    if (asked === 'local') for (const version of await local(engine)) found.add(version);
    else if (asked === 'all')
      for (const version of (await published(engine)).filter(isRelease)) found.add(version);
    else if (low !== undefined && high !== undefined && asked.split('..').length === 2) {
      for (const end of [low, high]) if (end !== '' && !isVersion(end)) throw notVersion(asked);
      const inside = (await published(engine)).filter(
        (version) => isRelease(version) && isInside(version, low, high),
      );
      for (const version of inside) found.add(version);
    } else if (isVersion(asked)) found.add(asked);
    else throw notVersion(asked);
  }
  return [...found].sort(compareVersions);
}

/** `1.1..1.4` ends with the last 1.4.x. */
function isInside(version: string, low: string, high: string): boolean {
  const isLow = low === '' || compareVersions(version, low) >= 0;
  return isLow && (high === '' || compareVersions(version, high) <= 0 || version.startsWith(`${high}.`));
}

function notVersion(asked: string): IsoldeError {
  return new IsoldeError(
    'usage',
    `"${asked}" names no version: write 1.1.3, 1.1..1.4, all (that npm has) or local (on this machine)`,
  );
}

type Axis = readonly (readonly [name: string, value: string])[];

function settingsOf(asked: readonly string[], table: Readonly<Record<string, readonly string[]>>): Axis[] {
  return asked.flatMap((text): Axis[] => {
    if (text === 'all')
      return Object.entries(table).map(([name, values]) => values.map((value) => [name, value] as const));
    const [, name, values] = /^([A-Za-z][\w.-]{0,63})=([^&#?\s]+)$/.exec(text) ?? [];
    if (name === undefined)
      throw new IsoldeError('usage', `"${text}" names no settings: write name=value,value or all`);
    return [values!.split(',').map((value) => [name, value] as const)];
  });
}

function combinations(axes: readonly Axis[]): Axis[] {
  return axes.reduce<Axis[]>(
    (found, axis) => found.flatMap((one) => axis.map((pair) => [...one, pair])),
    [[]],
  );
}

function withSettings(url: string, settings: Axis): string {
  return settings.reduce((text, [name, value]) => {
    const joint = text.includes('?') ? '&' : '?';
    return `${text}${joint}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }, url);
}
