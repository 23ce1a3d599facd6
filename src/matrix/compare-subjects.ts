/** Two subjects of one matrix: one bug or two, by the rule of witnesses (`known/witness.ts`). */
import { compareWitnesses, type Sighting, type WitnessCell, type WitnessVerdict } from '../known/index.js';
import { type Cell, namePlace } from './cell.js';

/** Compares the cells of two subjects of one matrix. */
export function compareSubjects(cells: readonly Cell[], one: string, other: string): WitnessVerdict {
  const unsteady = new Set([one, other].filter((subject) => isUnsteady(cells, subject)));
  const others = new Map(
    cells.filter(({ subject }) => subject === other).map((cell) => [nameCell(cell), cell]),
  );
  const pairs = cells
    .filter(({ subject }) => subject === one)
    .map((cell): WitnessCell & { readonly alike: boolean } => {
      const name = nameCell(cell);
      const beside = others.get(name);
      const { engine, version } = cell.place;
      const ran = cell.result.target ?? beside?.result.target ?? { name: engine, version: '' };
      const build = version === undefined ? ran : { ...ran, version };
      return {
        ...{ name, build, ...(cell.level !== undefined && { level: cell.level }) },
        one: sightingOf(cell, unsteady),
        other: beside === undefined ? { shows: undefined } : sightingOf(beside, unsteady),
        alike: behaveAlike(cell, beside),
      };
    });
  return compareWitnesses(pairs, { alike: pairs.some(({ alike }) => alike), names: [one, other] });
}

function sightingOf({ subject, result }: Cell, unsteady: ReadonlySet<string>): Sighting {
  const { outcome } = result;
  const shows = outcome === 'shows' ? true : outcome === 'does-not-show' ? false : undefined;
  return { shows, unsteady: unsteady.has(subject) };
}

/** Whether both show the same cause by the same trigger there. */
function behaveAlike({ result: a }: Cell, b: Cell | undefined): boolean {
  const others = b?.result.behaviours ?? [];
  return (a.behaviours ?? []).some((behaviour) => others.includes(behaviour));
}

function nameCell({ place, level }: Cell): string {
  return `${namePlace(place)}${level === undefined ? '' : `, ${level}`}`;
}

/** Whether some cell shows a subject in a part of its runs only. */
function isUnsteady(cells: readonly Cell[], subject: string): boolean {
  return cells.some(
    ({ subject: of, result }) => of === subject && result.outcome === 'shows' && result.shown < result.runs,
  );
}
