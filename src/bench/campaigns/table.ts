/** The table of a campaign: printed, and written into docs/campaigns/, so that what is claimed is what was run. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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

/** Prints the table and writes it to `folder/NAME.md`; nothing is written without a folder. */
export async function publishCampaign(table: CampaignTable, folder: string | undefined): Promise<void> {
  const text = renderCampaign(table);
  console.log(text);
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${table.name}.md`), `${text.trimEnd()}\n`);
}
