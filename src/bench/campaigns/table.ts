/** The table of a campaign: printed, and written into docs/campaigns/, so that what is claimed is what was run. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSection } from '../page-section.js';

export interface CampaignTable {
  readonly name: string;
  readonly title: string;
  /** What was done and what counts as a failure, in a sentence or two. */
  readonly about: string;
  /** How to run exactly this again. */
  readonly command: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** One line each, with the command that shows it again. */
  readonly failures: readonly string[];
}

/** Of a path only its last name: where things lie on one machine is nobody's business. */
const withoutFolders = (text: string) => text.replaceAll(/(?<![\w:])(?:\/[\w.@+-]+)+\/([\w.@+-]+)/g, '…/$1');

/** The table in Markdown. */
export function renderCampaign({ title, about, command, heads, rows, failures }: CampaignTable): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    `# ${title}`,
    about,
    `Written by \`${command}\` with Node ${process.versions.node} on ${process.platform}-${process.arch}.`,
    [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n'),
    failures.length === 0
      ? 'No failures.'
      : `Failures:\n\n${failures.map((text) => `- ${withoutFolders(text)}`).join('\n')}`,
    '',
  ].join('\n\n');
}

/** Prints the table and writes it to `place/campaigns/NAME.md`, with a link from `place/campaigns.md` if there is such a page; undefined: only prints. */
export async function publishCampaign(table: CampaignTable, place: string | undefined): Promise<void> {
  const text = renderCampaign(table);
  console.log(text);
  if (place === undefined) return;
  const [folder, index] = [join(place, 'campaigns'), join(place, 'campaigns.md')];
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${table.name}.md`);
  await writeFile(file, `${text.trimEnd()}\n`);
  console.error(`written to ${file}`);
  if (existsSync(index)) await writeSection(index, 'pages', await listPages(folder));
}

/** A list of the pages in a folder, by their titles. */
async function listPages(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
  const lines = names.map(async (name) => {
    const [title = name] = (await readFile(join(folder, name), 'utf8')).split('\n');
    return `- [${title.replace(/^# /, '')}](campaigns/${name})`;
  });
  return (await Promise.all(lines)).join('\n');
}
