/**
 * What Isolde knows of an engine before it connects to one, as data: one `declaration.ts` in each engine's folder, one
 * line in `declarations.ts`. Every other stage asks here (which features generation leaves out, how the vendor's bug
 * form looks, how a stand-alone script connects), so that a new engine is a folder and a line.
 *
 * A declaration loads no driver: drivers are optional packages, and `isolde --help` needs none of them.
 */
import type { Dialect } from '../sql/index.js';
import type { ScriptLine } from './programs.js';
import type { TargetOpener } from './target.js';

export interface TargetDeclaration {
  /** `postgres`, `mariadb`, …: the name of its targets, and the owner of its vendor contracts. */
  readonly name: string;
  /** What the engine is called in sentences. */
  readonly title: string;
  /** Where its bugs are filed. */
  readonly homePage?: string;
  /** URL schemes without colon; the first is the name. */
  readonly schemes: readonly [string, ...string[]];
  /** One line for the list of targets: what the URL may look like. */
  readonly usage: string;
  /** Absent: what is behind the URL says it. */
  readonly dialect?: Dialect;
  readonly generation?: GenerationLimits;
  /** A type for long texts; absent: the dialect's. */
  readonly longText?: string;
  /** SQL for a text that no other row gets; absent: the dialect's. */
  readonly uniqueText?: string;
  /** It has no aggregate that joins texts. */
  readonly joinsNoTexts?: true;
  /** It has DELETE … RETURNING, whatever it has of UPDATE … RETURNING; absent: as `write.returning` among its features says. */
  readonly deletesReturn?: true;
  /** The vendor's bug form; absent: a general one. */
  readonly bugForm?: readonly BugField[];
  /** Its tracker shows text as it is written; absent: it reads Markdown. */
  readonly plainBugForm?: true;
  /** The format of the vendor's own isolation tests. */
  readonly testFormat?: 'mtr' | 'spec';
  readonly reproDriver?: ReproDriver;
  /** The URL of an embedded or private server with these settings, where a bug can be tried if nobody says where. */
  readonly privateUrl?: (settings: Readonly<Record<string, string>>) => string;
  /** Parameters of its URLs that change what isolation does, with the values worth trying. */
  readonly settings?: Readonly<Record<string, readonly string[]>>;
  /** Versions that npm has, for URLs such as `duckdb@1.1.3:`. */
  readonly releases?: Releases;
  /** Its lines of `scripts/engines`, which brings versions that npm does not have. */
  readonly scriptLines?: readonly ScriptLine[];
  /** The engine itself looks for the versions that URLs name, and for what else of it is on this machine. */
  readonly findEngines?: () => Promise<readonly FoundEngine[]>;
  readonly load: () => Promise<TargetOpener>;
}

/** An engine that a URL can start here, or what is missing for that. */
export type FoundEngine =
  | { readonly url: string; readonly version: string /** A package, a program. */; readonly from: string }
  | { readonly url: string; readonly missing: string };

/** How the versions of an npm package are those of an engine. */
export interface Releases {
  readonly package: string;
  /** `1.1.3` for the package's `1.1.3-alpha.12`. What is left behind a hyphen is no release. */
  readonly engineVersion: (packageVersion: string) => string;
  /** What has to be done in the folder of a fetched package, for its install scripts do not run. */
  readonly prepare?: (packageFolder: string) => Promise<void>;
}

/** What generated cases must do without, or spell in its way. */
export interface GenerationLimits {
  /** Features (`generate/features.ts`) left out of every case. */
  readonly unsupported: readonly string[];
  /** What is left out besides with tables of a storage engine, by its name in small letters. */
  readonly byEngine?: Readonly<Record<string, readonly string[]>>;
  readonly generated: 'stored' | 'virtual';
  /** How a shared row lock is asked for. */
  readonly shareLock: 'share' | 'share mode';
  /** An error inside a transaction makes all of it void. */
  readonly errorDoomsTransaction: boolean;
  /** An update of an indexed column is delete and insert, which a referenced row does not survive. */
  readonly plainParents?: true;
  /** Keys are never left to the database. */
  readonly explicitKeys?: true;
  /** The FROM of a query that reads no table, where one is needed to write a WHERE behind it. */
  readonly oneRow?: string;
  /** How a key is defined that the database gives, beginning with 1; absent: in the words of the dialect. */
  readonly automaticKeys?: readonly string[];
  /** Index kinds it has besides plain ones; absent: those that most engines of its dialect have. */
  readonly indexes?: readonly IndexKind[];
  /** The default of a column is a number or a text, not `DATE '2024-01-01'`. */
  readonly plainDefaults?: true;
}

/** Kinds of index that conditions are sent through; the last four are access methods. */
export const indexKinds = ['partial', 'expression', 'covering', 'hash', 'brin', 'gin', 'gist'] as const;
export type IndexKind = (typeof indexKinds)[number];

/** The features of row locks, for engines that have none. */
export const noLocks: readonly string[] = ['lock.update', 'lock.share', 'wait.nowait', 'wait.skip-locked'];

/** One field of a bug form: its title, and what stands in it, one paragraph each. */
export interface BugField {
  readonly title: string;
  readonly content: readonly BugPart[];
}

/** A part of a report by name (`report/exports/form.ts` renders it), or fixed text. */
export type BugPart =
  | 'synopsis'
  | 'description'
  | 'steps'
  | 'expected'
  | 'actual'
  | 'argument'
  | 'environment'
  | 'version'
  | 'engine-version'
  | 'version-block'
  | 'server-os'
  | 'client-os'
  | 'mtr-test'
  | 'isolation-spec'
  | { readonly text: string };

/**
 * How a stand-alone script talks to the engine: plain JavaScript that defines `open()`, which gives back `session()` and
 * `close()`. A session's `run(sql)` returns `{ rows, count }` with cells as text or null.
 *
 * Servers get a schema or database of their own that is dropped at the end; embedded engines a temporary file.
 */
export interface ReproDriver {
  readonly packages: readonly string[];
  /** What it needs besides Node and npm packages. */
  readonly needs?: string;
  /** How the script is called, behind its name. */
  readonly argument: string;
  readonly code: string;
}
