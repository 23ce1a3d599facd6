/**
 * Explanations as parts for a page: words, and references that a page can link and highlight. `explainSteps` alone knows how steps
 * are worded; here its style writes marks in place of references, and the marks are exchanged for the references afterwards.
 */
import { type Explained, type ExplanationStyle, explainSteps } from '../check/index.js';

export type PhrasePart =
  | { readonly text: string }
  | { readonly transaction: string }
  | { readonly operation: number; readonly sql: string }
  | { readonly data: string }
  | { readonly title: string; readonly url: string };

const [open, close] = ['\ue000', '\ue001'];
const marks = /\ue000(\d+)\ue001/;

/** The parts of each step. */
export function phraseParts(explained: Explained): PhrasePart[][] {
  const parts: PhrasePart[] = [];
  const mark = (part: PhrasePart): string => `${open}${parts.push(part) - 1}${close}`;
  const style: ExplanationStyle = {
    words: (text) => text.replaceAll(/[\ue000\ue001]/g, ''),
    transaction: (transaction) => mark({ transaction }),
    operation: (operation, sql) => mark({ operation, sql }),
    data: (data) => mark({ data }),
    source: (title, url) => mark({ title, url }),
    withoutTimes: true,
  };
  return explainSteps(explained, style).map((text) =>
    text.split(marks).flatMap((piece, i): PhrasePart[] => {
      if (i % 2 === 1) return [parts[Number(piece)]!];
      return piece === '' ? [] : [{ text: piece }];
    }),
  );
}
