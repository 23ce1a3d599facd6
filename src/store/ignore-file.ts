/** `ignore.json`: bugs and signatures that hunts pass over, one a line, sorted. */
import { checkFormat, parseJson } from '../json.js';
import { optional } from './finding-file.js';

const format = 'isolde-ignore';
const version = 1;

export interface Ignored {
  /** A bug's id or a signature. */
  readonly what: string;
  readonly since: string;
  readonly reason?: string;
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
