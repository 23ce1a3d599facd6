/**
 * The versions that decide whether a bug is that of a report: those it was seen in, those said to be without it, and the neighbours of both. What shows in the one and
 * is gone on either side of it, as the report's case is, goes through the same changes (`witness.ts`).
 */
import { compareVersions, isOfSeries, isRelease } from '../versions.js';
import type { KnownEntry } from './entry.js';

/** `10.11.19-MariaDB-0+deb12u1` and `v6.2.1` as numbers with dots. */
function numbersOf(version: string): string {
  return /\d+(?:\.\d+)*/.exec(version)?.[0] ?? version;
}

/** Whether a report names this version among those it affects: itself, or its series (`1.4`). */
export function isAffected({ affected }: Pick<KnownEntry, 'affected'>, version: string): boolean {
  return affected.some((asked) => isOfSeries(numbersOf(version), numbersOf(asked)));
}

/** Versions of the published ones, from the oldest: the newest of each that the report names, with their neighbours. */
export function versionsForReport(
  { affected, fixed }: Pick<KnownEntry, 'affected' | 'fixed'>,
  published: readonly string[],
): string[] {
  const releases = published.filter(isRelease).sort(compareVersions);
  const newest = (asked: string) =>
    releases.findLastIndex((version) => isOfSeries(version, numbersOf(asked)));
  const oldest = (asked: string) => releases.findIndex((version) => isOfSeries(version, numbersOf(asked)));
  const named = [...affected.map(newest), ...fixed.map(oldest)].filter((at) => at >= 0);
  if (named.length === 0) return [];
  const places = new Set([...named, Math.min(...named) - 1, Math.max(...named) + 1]);
  return [...places]
    .sort((a, b) => a - b)
    .flatMap((at) => releases[at] ?? [])
    .slice(-mostVersions);
}

/** Each costs a database of its own. */
const mostVersions = 8;
