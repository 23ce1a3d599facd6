/** Whether a bug is known, in one line: for reports, lists and hunts. */
import type { KnownReference, KnownVerdict } from '../known/index.js';

/** `link` makes a name a link where the form has links. */
export function knownLine(
  { verdict, reports, why }: KnownVerdict,
  link: (reference: KnownReference) => string = ({ name, url }) =>
    url === undefined ? name : `${name} <${url}>`,
  text: (words: string) => string = (words) => words,
): string {
  const named = reports.map(link).join(', ');
  switch (verdict) {
    case 'duplicate':
      return `Known as ${named} (${text(why)})`;
    case 'undecided':
      return `Perhaps known as ${named} (${text(why)})`;
    case 'unique':
      return `Not known (${text(why)})`;
    default:
      return verdict satisfies never;
  }
}
