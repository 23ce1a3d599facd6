/**
 * Are two cases one bug? Both are run in the same cells (a version of an engine with certain settings, at a level), and this is the one rule that
 * says what follows from where they show.
 *
 * 1. **Two**: a cell where one shows and the other does not. Whatever makes the one show there does not make the other. The absence of a case that shows in some
 *    runs only proves nothing. Nor does a cell where the one that shows behaves *otherwise* than where the bug was found (some change of it is answered
 *    otherwise): then something else may break it there.
 * 2. **Two**: in the build that a report was filed against, a change of either case is answered otherwise than where the bug was found. Its bug is in that
 *    build, so what is here is another.
 * 3. **One**: no cell differs, and two *changes* bring or fix both together: a step between neighbouring versions, or one setting. One change is not enough:
 *    a release fixes many bugs, and a setting may switch off what a whole family of bugs needs. With one change they are one bug only if
 *    they also behave alike (`alike`: their behaviour signatures agree).
 * 4. **Undecided**: everything else. Both show everywhere, or nowhere, or no cell could run both.
 *
 * A setting that differs between the same versions is one change however many versions it was tried on; a version that has it by default is
 * compared with versions of the same settings, so that a new default does not count a second time.
 */
import type { Level } from '../contracts/index.js';
import type { TargetStamp } from '../histories/index.js';
import { compareVersions } from '../versions.js';
import { counted } from '../words.js';

/** What a case does in a cell. */
export interface Sighting {
  /** Undefined: it cannot be run there, or nobody can say. */
  readonly shows: boolean | undefined;
  /** It shows in some of its runs only, there or elsewhere. */
  readonly unsteady?: boolean;
  /** A change of it that is answered otherwise there than where the bug was found. */
  readonly otherwise?: string;
}

export interface WitnessCell {
  /** For people. */
  readonly name: string;
  readonly build: Pick<TargetStamp, 'name' | 'version' | 'settings'>;
  readonly level?: Level;
  readonly one: Sighting;
  readonly other: Sighting;
  /** The second case was reported for this build. */
  readonly filed?: boolean;
}

export interface WitnessVerdict {
  readonly verdict: 'one' | 'two' | 'undecided';
  readonly why: string;
  /** Cells where they differ, by name. */
  readonly differ: readonly string[];
  readonly together: readonly string[];
  readonly absent: readonly string[];
  /** Cells from which nothing follows. */
  readonly leftOut: number;
  /** What brings or fixes both: `1.3.2 to 1.4.0`, `innodb_snapshot_isolation`. */
  readonly changes: readonly string[];
}

export interface WitnessOptions {
  /** Their behaviour signatures agree. */
  readonly alike: boolean;
  /** What the two are called. */
  readonly names?: readonly [string, string];
}

/** Changes that two cases must go through together to be one bug, whatever they look like. */
const enoughChanges = 2;

export function compareWitnesses(cells: readonly WitnessCell[], options: WitnessOptions): WitnessVerdict {
  const { alike, names = ['the one', 'the other'] } = options;
  const sorted = new Map<Lesson, WitnessCell[]>();
  for (const cell of cells) {
    const lesson = lessonOf(cell);
    sorted.set(lesson, [...(sorted.get(lesson) ?? []), cell]);
  }
  const of = (lesson: Lesson) => sorted.get(lesson) ?? [];
  const named = (...lessons: Lesson[]) => lessons.flatMap(of).map(({ name }) => name);
  const changes = changesBetween(of('together'), of('absent'));
  const found = {
    differ: named('differ', 'doubtful'),
    ...{ together: named('together'), absent: named('absent'), leftOut: of('nothing').length, changes },
  };
  const [proof] = [...of('otherwise'), ...of('differ')];
  if (proof !== undefined) return { verdict: 'two', why: whyTwo(proof, names), ...found };
  const [lost] = of('not-filed');
  if (lost !== undefined)
    return {
      verdict: 'undecided',
      why: `${names[1]} does not show on ${lost.name}, where it was filed`,
      ...found,
    };
  if (of('doubtful').length > 0) {
    const why = `they differ (${named('doubtful').slice(0, 3).join('; ')}), but the one that is absent there does not show in every run elsewhere either`;
    return { verdict: 'undecided', why, ...found };
  }
  const isOne = changes.length >= enoughChanges || (changes.length > 0 && alike);
  return { verdict: isOne ? 'one' : 'undecided', why: whyNotTwo(found, alike), ...found };
}

/** What follows from a cell. */
type Lesson = 'otherwise' | 'differ' | 'doubtful' | 'together' | 'absent' | 'not-filed' | 'nothing';

function lessonOf({ one, other, filed = false }: WitnessCell): Lesson {
  if (filed && other.otherwise !== undefined) return 'otherwise';
  if (filed && other.shows === false) return 'not-filed';
  if (one.shows === undefined || other.shows === undefined) return 'nothing';
  if (one.shows !== other.shows) {
    const [shown, gone] = one.shows ? [one, other] : [other, one];
    if (shown.otherwise !== undefined) return 'nothing';
    return gone.unsteady === true ? 'doubtful' : 'differ';
  }
  if (one.otherwise === undefined && other.otherwise === undefined) return one.shows ? 'together' : 'absent';
  return filed ? 'otherwise' : 'nothing';
}

function whyTwo({ name, one, other }: WitnessCell, names: readonly [string, string]): string {
  if (one.shows === other.shows || other.otherwise !== undefined) {
    const changed = [one, other].flatMap(({ otherwise }, i) =>
      otherwise === undefined ? [] : [`${names[i]} (${otherwise})`],
    );
    return `a change of ${changed.join(' and of ')} is answered otherwise on ${name}, where it was filed`;
  }
  const [shown, gone] = one.shows === true ? names : [names[1], names[0]];
  return `on ${name} ${shown} shows and ${gone} does not`;
}

function whyNotTwo(found: Omit<WitnessVerdict, 'verdict' | 'why'>, alike: boolean): string {
  const { together, absent, changes } = found;
  if (changes.length === 0) {
    if (together.length === 0)
      return absent.length > 0 ? 'neither shows in any cell' : 'no cell could run both';
    return `both show in ${counted(together.length, 'cell')} that could be compared, and no version or setting was tried that has neither`;
  }
  const gone = `they show together on ${list(together)} and are gone together on ${list(absent)}`;
  if (changes.length >= enoughChanges) return gone;
  return alike
    ? `they behave alike, and ${gone}`
    : `${gone}, but a single change (${changes[0]}) may fix several bugs, and they do not behave alike`;
}

function list(names: readonly string[]): string {
  const rest = names.length - 3;
  return `${names.slice(0, 3).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** What leads from cells that show both to cells that show neither; neighbours only, each change once. */
function changesBetween(together: readonly WitnessCell[], absent: readonly WitnessCell[]): string[] {
  const changes = new Set<string>();
  let unclear: string | undefined;
  for (const shown of together) {
    for (const gone of absent) {
      if (shown.build.name !== gone.build.name || shown.level !== gone.level) continue;
      const versions = [shown.build.version, gone.build.version] as const;
      if (versions[0] === versions[1]) {
        const settings = differingSettings(shown.build, gone.build);
        if (settings.length === 1) changes.add(settings[0]!);
      } else if (isSameLine(shown.build, gone.build)) {
        const beside = [...together, ...absent].filter(({ build }) => isSameLine(build, shown.build));
        const [low, high] = [...versions].sort(compareVersions) as [string, string];
        if (!beside.some(({ build }) => isBetween(build.version, low, high)))
          changes.add(`${low} to ${high}`);
      } else unclear ??= `${shown.name} to ${gone.name}`;
    }
  }
  if (changes.size === 0 && unclear !== undefined) changes.add(unclear);
  return [...changes].sort();
}

/** Versions with the same settings; a fault that was put in belongs to the version. */
function isSameLine(a: WitnessCell['build'], b: WitnessCell['build']): boolean {
  return a.name === b.name && differingSettings(a, b).every((name) => name === 'fault');
}

function isBetween(version: string, low: string, high: string): boolean {
  return compareVersions(version, low) > 0 && compareVersions(version, high) < 0;
}

/** Of the settings that both builds tell, and of faults that were put in; how Isolde runs an engine is no setting of it. */
export function differingSettings(
  { settings: a = {} }: WitnessCell['build'],
  { settings: b = {} }: WitnessCell['build'],
): string[] {
  const told = Object.keys(a).filter((name) => name in b && name !== 'process' && name !== 'fault');
  return [...told, 'fault'].filter((name) => a[name] !== b[name]);
}
