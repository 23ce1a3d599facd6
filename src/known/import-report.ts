/**
 * Reports from files: the study's table (CSV), an issue as JSON (GitHub's form, one or a list), Markdown, or pasted text. They
 * become entries of the user's own folder: facts and features. Where the script reader finds sessions in a report and every
 * statement is on the allow-list, its case comes along. Nothing is run here.
 */
import { type ScheduledCase, serialOrder } from '../cases/index.js';
import { FileError } from '../errors.js';
import { type JsonNode, parseJson } from '../json.js';
import { findForbiddenStatement, sqlOfCase, targetDeclarations } from '../targets/index.js';
import { caseFeatures } from './case-features.js';
import { idOf, type KnownEntry, type Status, symptoms } from './entry.js';
import { readStudy } from './study-csv.js';
import { caseInText, textFeatures } from './text-features.js';

export interface ImportedReport {
  readonly entry: KnownEntry;
  readonly case?: Required<ScheduledCase>;
  /** Why its case was left out, if one was found. */
  readonly note?: string;
}

export interface ImportOptions {
  /** Named in errors; its ending says which form it has. */
  readonly file: string;
  /** As targets are called; where the text does not say. */
  readonly engine?: string;
  readonly id?: string;
}

const mostReports = 10_000;
const mostChars = 8 * 1024 * 1024;

export function importReports(text: string, options: ImportOptions): ImportedReport[] {
  const { file } = options;
  if (/\.csv$/i.test(file)) return readStudy(text, file).map((entry) => ({ entry }));
  if (text.length > mostChars) throw new FileError({ file }, `it is longer than ${mostChars} characters`);
  if (/^\s*[[{]/.test(text) && !/\.(md|sql|txt)$/i.test(file)) return importJson(text, options);
  return [importText(text, { ...titleOf(text), state: 'open' }, options)];
}

function importJson(text: string, options: ImportOptions): ImportedReport[] {
  const node = parseJson(text, options.file);
  const items = Array.isArray(node.value) ? node.items() : [node];
  if (items.length > mostReports) node.fail(`it has more than ${mostReports} issues`);
  if (items.length > 1 && options.id !== undefined)
    node.fail('it has several issues: an id can be given to one only');
  return items.map((item) => {
    item.members();
    const words = (name: string) =>
      item.maybe(name, (each) => (each.value === null ? '' : each.text())) ?? '';
    const body = words('body') || words('description');
    const state = words('state') || words('status');
    return importText(body, { title: title(item), url: words('html_url') || words('url'), state }, options);
  });
}

function title(item: JsonNode): string {
  for (const name of ['title', 'summary']) if (item.at(name).value !== undefined) return item.at(name).text();
  return item.at('title').fail('an issue has a title');
}

interface Facts {
  readonly title: string;
  readonly url?: string;
  readonly state: string;
}

/** The first heading or line, and the first address of a tracker. */
function titleOf(text: string): Pick<Facts, 'title' | 'url'> {
  const line =
    text.split('\n', 200).find((each) => each.trim() !== '' && !each.startsWith('-- isolde')) ?? '';
  const url = trackerAddress.exec(text.slice(0, 200_000))?.[0];
  return { title: line.replace(/^[#\s-]+|^name:\s*/g, '').trim(), ...(url !== undefined && { url }) };
}

const trackerAddress =
  /https?:\/\/(?:bugs\.mysql\.com\/bug\.php\?id=\d+|jira\.mariadb\.org\/browse\/[A-Z]+-\d+|github\.com\/[\w.-]+\/[\w.-]+\/issues\/\d+)/;

/** The engine whose tracker an address belongs to, and what the report is called: `DuckDB #17223`, `MDEV-32898`. */
function trackerOf(address: string): { readonly engine: string; readonly name: string } | undefined {
  const owner = targetDeclarations.find(
    ({ homePage }) => homePage !== undefined && isWithin(address, homePage),
  );
  const key = /(?:[A-Z]+-)?\d+$/.exec(address)?.[0];
  if (owner === undefined || key === undefined) return undefined;
  return { engine: owner.name, name: /^\d/.test(key) ? `${owner.title} #${key}` : key };
}

/** On GitHub a tracker is a folder, elsewhere a host. */
function isWithin(address: string, tracker: string): boolean {
  const [one, other] = [new URL(address), new URL(tracker)];
  const shared = other.host === 'github.com' ? other.pathname.replace(/issues.*$/, '') : '/';
  return one.host === other.host && one.pathname.startsWith(shared);
}

function importText(text: string, facts: Facts, options: ImportOptions): ImportedReport {
  const { file } = options;
  const address = facts.url !== undefined && trackerAddress.test(facts.url) ? facts.url : undefined;
  const tracker = address === undefined ? undefined : trackerOf(address);
  const engine = options.engine ?? tracker?.engine;
  if (engine === undefined)
    throw new FileError({ file }, 'the report does not say of which engine it speaks; name it with --engine');
  const name = (tracker?.name ?? facts.title.slice(0, 120)) || file;
  const found = caseInText(text, file);
  const forbidden = found && findForbiddenStatement(sqlOfCase(found.case), found.case.dialect);
  const usable = forbidden === undefined ? found : undefined;
  const entry: KnownEntry = {
    id: options.id ?? idOf(name.replace('#', '')),
    name,
    engine,
    ...(address !== undefined && { url: address }),
    status: statusOf(facts.state),
    symptom: symptoms[symptoms.length - 1]!,
    about: facts.title.slice(0, 500),
    affected: [],
    fixed: [],
    features: usable === undefined ? textFeatures(text) : caseFeatures(usable.case),
  };
  return {
    entry,
    ...(usable && { case: { case: usable.case, schedule: usable.schedule ?? serialOrder(usable.case) } }),
    ...(forbidden !== undefined && { note: `its case is left out, because ${forbidden}` }),
    ...(found === undefined && { note: 'no sessions were found in it: it is kept by its features only' }),
  };
}

function statusOf(state: string): Status {
  if (/fixed|resolved/i.test(state)) return 'fixed';
  if (/closed/i.test(state)) return 'closed';
  return /verified|confirmed/i.test(state) ? 'confirmed' : 'open';
}
