/**
 * Why a bug is one, in Markdown and HTML: the steps of the finding's explanation, numbered. Times are left out, for the order
 * is before the reader's eyes; operations keep their number, which the table of the interleaving shows too.
 */
import { type ExplanationStyle, explainSteps, type Step } from '../check/index.js';
import { codeSpan, escapeHtml, escapeMarkdown, isWebAddress } from '../markup.js';
import type { Bug } from './bug.js';

const inMarkdown: ExplanationStyle = {
  words: escapeMarkdown,
  transaction: escapeMarkdown,
  operation: (index, sql) => `operation ${index} (${codeSpan(sql)})`,
  data: codeSpan,
  source: (title, url) => `${escapeMarkdown(title)}, ${isWebAddress(url) ? `<${url}>` : codeSpan(url)}`,
  withoutTimes: true,
};

const inHtml: ExplanationStyle = {
  words: escapeHtml,
  transaction: (name) => `<b>${escapeHtml(name)}</b>`,
  operation: (index, sql) => `operation ${index} (<code>${escapeHtml(sql)}</code>)`,
  data: (text) => `<code>${escapeHtml(text)}</code>`,
  source: (title, url) =>
    isWebAddress(url)
      ? `<a href="${escapeHtml(url)}" rel="noreferrer">${escapeHtml(title)}</a>`
      : `${escapeHtml(title)}, ${escapeHtml(url)}`,
  withoutTimes: true,
};

/** Sentences as one paragraph. */
export function summaryMarkdown(summary: readonly Step[]): string {
  return explainSteps({ explanation: summary, transactions: [] }, inMarkdown).join(' ');
}

/** The same in HTML. */
export function summaryHtml(summary: readonly Step[]): string {
  return explainSteps({ explanation: summary, transactions: [] }, inHtml).join(' ');
}

/** The argument as a numbered list in Markdown. */
export function argumentMarkdown({ finding }: Pick<Bug, 'finding'>): string {
  return explainSteps(finding, inMarkdown)
    .map((text, i) => `${i + 1}. ${text}`)
    .join('\n');
}

/** The argument as a numbered list in HTML. */
export function argumentHtml({ finding }: Pick<Bug, 'finding'>): string {
  const steps = explainSteps(finding, inHtml).map((text) => `<li>${text}</li>`);
  return `<ol>\n${steps.join('\n')}\n</ol>`;
}
