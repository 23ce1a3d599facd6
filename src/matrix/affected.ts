/** First bad and first good version, from the cells of a matrix. */
import { type AffectedInterval, intervalsOf, nameInterval } from '../affected-versions.js';
import { compareVersions } from '../versions.js';
import type { Cell } from './cell.js';
import { probeOf } from './run-matrix.js';

/** Where a subject shows, along the versions of one engine with the same settings and level. */
export interface Affected {
  readonly subject: string;
  readonly engine: string;
  readonly settings: string;
  readonly level?: string;
  /** Versions that were tried and could be decided. */
  readonly tried: number;
  /** From the oldest. */
  readonly intervals: readonly AffectedInterval[];
}

/** Every line of versions in a matrix. Cells whose place names no version are left out. */
export function affectedBy(cells: readonly Cell[]): Affected[] {
  const lines = new Map<string, Cell[]>();
  for (const cell of cells) {
    if (cell.place.version === undefined) continue;
    const { engine, settings } = cell.place;
    const key = JSON.stringify([cell.subject, engine, settings, cell.level]);
    lines.set(key, [...(lines.get(key) ?? []), cell]);
  }
  return [...lines.values()].map((line) => {
    const sorted = [...line].sort((a, b) => compareVersions(a.place.version!, b.place.version!));
    const { subject, place, level } = sorted[0]!;
    const probes = sorted.map(({ result }) => probeOf(result));
    return {
      subject,
      engine: place.engine,
      settings: place.settings,
      ...(level !== undefined && { level }),
      tried: probes.filter((probe) => probe !== 'unknown').length,
      intervals: intervalsOf(probes).map((interval) =>
        nameInterval(
          interval,
          sorted.map((cell) => cell.place.version!),
        ),
      ),
    };
  });
}
