/** The command that runs one round of a hunt again, as bugs and reports name it. */
import type { Level } from '../contracts/index.js';
import { usualChoice } from '../judge/index.js';
import { hideSecrets, publicUrl } from '../secrets.js';
import { isSharedUrl } from '../store/index.js';

/** What decides which rounds a hunt has. */
export interface ReplayFacts {
  readonly target?: string | undefined;
  readonly levels?: readonly Level[] | undefined;
  readonly contract: string;
  readonly profile?: string | undefined;
  readonly oracles?: readonly string[] | undefined;
  readonly templates?: readonly string[] | undefined;
  /** The set of stored bugs that were varied. */
  readonly reused?: string | undefined;
  /** The store of that set, if it is not the usual one. */
  readonly store?: string | undefined;
  readonly seed: string;
}

export function replayLine(facts: ReplayFacts): (round: number) => string {
  const quote = (text: string) => (/^[\w:./=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const words = [
    'npx isolde hunt',
    ...(facts.target === undefined ? [] : [quote(hideSecrets(facts.target))]),
    ...(facts.levels ?? []).map((level) => `--level ${quote(level)}`),
    ...(facts.contract === usualChoice ? [] : [`--contract ${quote(facts.contract)}`]),
    ...(facts.profile === undefined ? [] : [`--profile ${quote(facts.profile)}`]),
    ...(facts.oracles ?? []).map((name) => `--oracle ${name}`),
    ...(facts.templates ?? []).map((file) => `--template ${quote(file)}`),
    ...(facts.reused === undefined ? [] : [`--reuse ${facts.reused}`]),
    ...(facts.reused === undefined || facts.store === undefined
      ? []
      : [`--store ${quote(isSharedUrl(facts.store) ? publicUrl(facts.store) : facts.store)}`]),
    `--seed ${quote(facts.seed)}`,
  ];
  return (round: number) => `${words.join(' ')} --rounds ${round}..${round}`;
}
