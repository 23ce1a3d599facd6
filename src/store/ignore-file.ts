/** `ignore.json`: bugs and signatures that hunts pass over, one a line, sorted. */
import { checkFormat, optional, parseJson } from '../json.js';

const format = 'isolde-ignore';
const version = 1;

export interface Ignored {
  /** A bug's id or a signature. */
  readonly what: string;
  readonly since: string;
  readonly reason?: string;
}

/** The list with one more entry, in place of what was said of the same bug before. */
export function withIgnored(list: readonly Ignored[], entry: Ignored): Ignored[] {
  return [...list.filter(({ what }) => what !== entry.what), entry];
}

export function printIgnored(list: readonly Ignored[]): string {
  const lines = list
    .toSorted((a, b) => (a.what < b.what ? -1 : 1))
    .map((entry) => `    ${JSON.stringify(entry)}`);
  const ignored = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n  "format": "${format}",\n  "version": ${version},\n  "ignored": ${ignored}\n}\n`;
}

export function parseIgnored(text: string, file: string): Ignored[] {
  const node = parseJson(text, file);
  checkFormat(node, format, version);
  node.object(['format', 'version', 'ignored']);
  return node
    .at('ignored')
    .items()
    .map((entry) => {
      entry.object(['what', 'since', 'reason']);
      return {
        what: entry.at('what').text(),
        since: entry.at('since').text(),
        ...optional(
          'reason',
          entry.maybe('reason', (each) => each.text()),
        ),
      };
    });
}
