/**
 * What an expert says, read strictly: one JSON object with a choice, a confidence and a reason. Anything else is no opinion. The text is
 * never run and never becomes markup; the reason is shown as one line.
 */
import { oneLine } from '../visible.js';

/** Of two reports: which is more like the case. Of one: whether it is the same bug. */
export type Choice = 'A' | 'B' | 'same' | 'different';

export interface Opinion {
  readonly choice: Choice;
  /** 0 to 100. */
  readonly confidence: number;
  readonly reason: string;
}

const mostReason = 600;
const fence = /^```(?:json)?\s*\n([\s\S]*?)\n```$/;

/** Undefined: this is no answer to the question. */
export function readOpinion(text: string, choices: readonly Choice[]): Opinion | undefined {
  const bare = text.trim();
  let value: unknown;
  try {
    value = JSON.parse(fence.exec(bare)?.[1] ?? bare);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { choice, confidence, reason = '' } = value as Record<string, unknown>;
  const chosen = choices.find((each) => each === choice);
  if (chosen === undefined) return undefined;
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 100)) return undefined;
  if (typeof reason !== 'string') return undefined;
  return { choice: chosen, confidence, reason: oneLine(reason.slice(0, mostReason)) };
}
