/** How a vendor's tracker wants text: as Markdown, or as it is. */
import type { ExplanationStyle } from '../../check/index.js';
import { renderInterleaving } from '../../histories/index.js';
import { codeBlock, codeSpan, escapeMarkdown, isWebAddress } from '../../markup.js';
import { oneLine, showControls } from '../../visible.js';
import { inMarkdown, inPlainText } from '../argument.js';
import type { Bug } from '../bug.js';
import { interleavingTable } from '../markdown.js';

export interface FormMarkup {
  /** The file that the form is written to. */
  readonly file: string;
  readonly style: ExplanationStyle;
  field(title: string, content: string): string;
  text(text: string): string;
  code(text: string): string;
  block(text: string, language?: string): string;
  link(title: string, url: string): string;
  interleaving(bug: Bug): string;
}

export const markdownForm: FormMarkup = {
  file: 'bug-report.md',
  style: inMarkdown,
  field: (title, content) => `### ${title}\n\n${content}\n`,
  text: escapeMarkdown,
  code: codeSpan,
  block: codeBlock,
  link: (title, url) => `${escapeMarkdown(title)}: ${isWebAddress(url) ? `<${url}>` : codeSpan(url)}`,
  interleaving: interleavingTable,
};

const asItIs = { heading: String, result: String, error: String };

export const plainForm: FormMarkup = {
  file: 'bug-report.txt',
  style: inPlainText,
  field: (title, content) => `${title}\n${'='.repeat(title.length)}\n\n${content}\n`,
  text: oneLine,
  code: oneLine,
  block: (text) =>
    showControls(text)
      .trimEnd()
      .replaceAll(/^(?=.)/gm, '    '),
  link: (title, url) => `${oneLine(title)}: ${oneLine(url)}`,
  interleaving: ({ history }) => renderInterleaving(history, { width: 100, style: asItIs, numbered: true }),
};
