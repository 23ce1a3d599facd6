/**
 * Reports as people have them: an issue as JSON (GitHub's fields, one or a list), a table of issues (CSV with a line of names), Markdown, or pasted
 * text. What is read here is facts and text; whoever keeps reports makes entries of them (`import-report.ts`), whoever asks about one looks for a case
 * in it (`isolde dedupe`).
 */
import { FileError } from '../errors.js';
import { type JsonNode, parseJson } from '../json.js';
import { targetDeclarations } from '../targets/index.js';
import { parseCsv } from './csv.js';

export interface ReportText {
  readonly title: string;
  /** Everything else that it says. */
  readonly text: string;
  /** Where it is filed, if that is a tracker’s address. */
  readonly url?: string;
  /** As people write it: `DuckDB #17223`; told by the address. */
  readonly name?: string;
  /** As targets are called: told by the address or a column. */
  readonly engine?: string;
  /** In the words of its tracker. */
  readonly state: string;
}

const mostReports = 10_000;
const mostChars = 8 * 1024 * 1024;

/** The reports of a file; its ending says which form it has. */
export function readReportTexts(text: string, file: string): ReportText[] {
  if (/\.csv$/i.test(file)) return readTable(text, file);
  if (text.length > mostChars) throw new FileError({ file }, `it is longer than ${mostChars} characters`);
  if (/^\s*[[{]/.test(text) && !/\.(md|sql|txt)$/i.test(file)) return readJson(text, file);
  return [reportOf({ text, state: 'open', ...titleOf(text) })];
}

function readJson(text: string, file: string): ReportText[] {
  const node = parseJson(text, file);
  const items = Array.isArray(node.value) ? node.items() : [node];
  if (items.length > mostReports) node.fail(`it has more than ${mostReports} issues`);
  return items.map((item) => {
    item.members();
    const words = (name: string) =>
      item.maybe(name, (each) => (each.value === null ? '' : each.text())) ?? '';
    return reportOf({
      title: titleField(item),
      text: words('body') || words('description'),
      url: words('html_url') || words('url'),
      state: words('state') || words('status'),
    });
  });
}

function titleField(item: JsonNode): string {
  for (const name of ['title', 'summary']) if (item.at(name).value !== undefined) return item.at(name).text();
  return item.at('title').fail('an issue has a title');
}

/** What columns of trackers’ tables are called. */
const columnNames = {
  title: /^(issue )?(title|summary|synopsis|subject)$/i,
  text: /^(body|description|text|details?|comments?)$/i,
  url: /^((issue|bug|report) )?(url|link|address)$/i,
  state: /^(state|status|resolution)$/i,
  engine: /^(engine|database|dbms|product)$/i,
} as const;

function readTable(text: string, file: string): ReportText[] {
  const [head, ...rows] = parseCsv(text, file);
  const column = (name: keyof typeof columnNames) =>
    head?.fields.findIndex((field) => columnNames[name].test(field.trim())) ?? -1;
  const columns = { title: column('title'), text: column('text'), url: column('url') };
  if (columns.title < 0 && columns.text < 0)
    throw new FileError({ file, line: 1 }, 'no column is called title, summary, body or description');
  if (rows.length > mostReports) throw new FileError({ file }, `it has more than ${mostReports} rows`);
  const [state, engine] = [column('state'), column('engine')];
  return rows.map(({ fields }) => {
    const at = (place: number) => (fields[place] ?? '').trim();
    const named = engineCalled(at(engine));
    const facts = {
      title: at(columns.title),
      text: at(columns.text),
      url: at(columns.url),
      state: at(state),
    };
    const report = reportOf({ ...facts, ...(facts.title === '' && titleOf(facts.text)) });
    return { ...(named !== undefined && { engine: named }), ...report };
  });
}

/** `MariaDB`, `mariadb` or `PostgreSQL` as targets are called. */
function engineCalled(name: string): string | undefined {
  const word = name.toLowerCase();
  return targetDeclarations.find((each) => [each.name, each.title.toLowerCase()].includes(word))?.name;
}

/** The first heading or line, and the first address of a tracker. */
function titleOf(text: string): Pick<ReportText, 'title' | 'url'> {
  const line =
    text.split('\n', 200).find((each) => each.trim() !== '' && !each.startsWith('-- isolde')) ?? '';
  const url = trackerAddress.exec(text.slice(0, 200_000))?.[0];
  return { title: line.replace(/^[#\s-]+|^name:\s*/g, '').trim(), ...(url !== undefined && { url }) };
}

function reportOf({ url, ...facts }: Pick<ReportText, 'title' | 'text' | 'state' | 'url'>): ReportText {
  // Without what a browser adds: the number of a comment is not that of the report.
  const address = url === undefined ? undefined : trackerAddress.exec(url)?.[0];
  return { ...facts, ...(address !== undefined && { url: address, ...trackerOf(address) }) };
}

const trackerAddress =
  /https?:\/\/(?:bugs\.mysql\.com\/bug\.php\?id=\d+|jira\.mariadb\.org\/browse\/[A-Z]+-\d+|github\.com\/[\w.-]+\/[\w.-]+\/issues\/\d+)/;

/** The engine whose tracker an address belongs to, and what the report is called: `DuckDB #17223`, `MDEV-32898`. */
function trackerOf(address: string): Pick<ReportText, 'engine' | 'name'> {
  const owner = targetDeclarations.find(
    ({ homePage }) => homePage !== undefined && isWithin(address, homePage),
  );
  const key = /(?:[A-Z]+-)?\d+$/.exec(address)?.[0];
  if (owner === undefined || key === undefined) return {};
  return { engine: owner.name, name: /^\d/.test(key) ? `${owner.title} #${key}` : key };
}

/** On GitHub a tracker is a folder, elsewhere a host. */
function isWithin(address: string, tracker: string): boolean {
  const [one, other] = [new URL(address), new URL(tracker)];
  const shared = other.host === 'github.com' ? other.pathname.replace(/issues.*$/, '') : '/';
  return one.host === other.host && one.pathname.startsWith(shared);
}
