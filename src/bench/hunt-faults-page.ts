/**
 * The page of `docs/stages/hunt-faults.md`: a row for each fault, a column for each engine. It is written cell by cell, and what a
 * page already says of other faults and engines stays, so that several people can measure parts of it.
 */

/** What a page has to have. */
export interface TableShape {
  /** The engines, each by the beginning of its heading. */
  readonly columns: readonly string[];
  readonly faults: readonly string[];
}

export interface Cell {
  readonly fault: string;
  /** The engine's title and version. */
  readonly heading: string;
  readonly text: string;
}

const unmeasured = 'not measured';

/** The page with one cell measured. Rows of faults that are no more go, rows of new ones come. */
export function withCell(page: string, { columns, faults }: TableShape, cell: Cell): string {
  const [head = [], ...rows] = tableOf(page);
  const old = new Map(rows.map(([fault, ...cells]) => [fault, cells]));
  const headings = columns.map((title) => head.find((each) => each.startsWith(title)) ?? title);
  const column = columns.findIndex((title) => cell.heading.startsWith(title));
  const table = faults.map((fault) => {
    const known = old.get(`\`${fault}\``) ?? [];
    return [`\`${fault}\``, ...columns.map((_, i) => known[i] ?? unmeasured)];
  });
  headings[column] = cell.heading;
  table[faults.indexOf(cell.fault)]![column + 1] = cell.text;
  const lines = [['fault', ...headings], ['---', ...columns.map(() => '---')], ...table];
  return `${introduction}\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

/** The cells of the table of a page, without the line below its heads. */
function tableOf(page: string): string[][] {
  const lines = [...page.matchAll(/^\| (.*) \|$/gm)].map(([, line]) => line!.split(' | '));
  return lines.filter(([first]) => first !== '---');
}

const introduction = `# Faults found by hunts

Median seconds, and the rounds of that hunt, to the first confirmed, reduced bug over the seeds 1 to 3, one lane; in how many of the hunts it was found; and the kinds of finding that
showed it. Written by \`node build/bench/hunt-faults.js\` (after \`npm run build:tools\`), which takes a file, seconds, seeds and names of faults; bugs the engine
shows without the fault do not count. Faults are not narrowed: each strikes at every occasion, and hunts open with the probe cases, so rarer triggers take longer. On
PostgreSQL \`stale-reevaluation\` is hunted at READ COMMITTED, \`missed-certification\` at SERIALIZABLE; DuckDB has no level with a certifier, where one transaction in a thousand gets a weaker snapshot. \`mixed-snapshot\`, \`stale-index\`,
\`misfolded-expression\` and \`altered-commit\` are hunted with \`--oracle statement --profile queries\`: only that oracle sees them.
`;
