/**
 * Why a bug is one: the steps of the finding's explanation, numbered, in Markdown or as plain text. Times are left out, for the order
 * is before the reader's eyes; operations keep their number, which the table of the interleaving shows too.
 */
import { type ExplanationStyle, explainSteps, type Step } from '../check/index.js';
import { codeSpan, escapeMarkdown, isWebAddress } from '../markup.js';
import { oneLine } from '../visible.js';
import type { Bug } from './bug.js';

export const inMarkdown: ExplanationStyle = {
  words: escapeMarkdown,
  transaction: escapeMarkdown,
  operation: (index, sql) => `operation ${index} (${codeSpan(sql)})`,
  data: codeSpan,
  source: (title, url) => `${escapeMarkdown(title)}, ${isWebAddress(url) ? `<${url}>` : codeSpan(url)}`,
  withoutTimes: true,
};

export const inPlainText: ExplanationStyle = {
  words: oneLine,
  transaction: oneLine,
  operation: (index, sql) => `operation ${index} (${oneLine(sql)})`,
  data: oneLine,
  source: (title, url) => `${oneLine(title)} <${oneLine(url)}>`,
  withoutTimes: true,
};

/** Sentences as one paragraph. */
export function summaryText(summary: readonly Step[], style: ExplanationStyle): string {
  return explainSteps({ explanation: summary, transactions: [] }, style).join(' ');
}

/** The argument as a numbered list. */
export function argumentText({ finding }: Pick<Bug, 'finding'>, style: ExplanationStyle): string {
  return explainSteps(finding, style)
    .map((text, i) => `${i + 1}. ${text}`)
    .join('\n');
}
