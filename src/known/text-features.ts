/**
 * The features of a report's text, by rules. If the script reader finds sessions in it, they are those of the case;
 * otherwise every line that begins like a statement counts, whatever prompt or label stands before it.
 */
import { type Case, parseScript } from '../cases/index.js';
import { type Level, levels } from '../contracts/index.js';
import { FileError } from '../errors.js';
import { caseFeatures, flagsOfStatement, flagsOfTables, modeOf } from './case-features.js';
import type { Features } from './features.js';

/** Reports are longer than this only by their attachments. */
const mostChars = 200_000;
const mostLines = 5_000;
const prompt = /^\s*(?:[\w.[\]()@ -]{0,40}>|\/\*.{0,30}?\*\/|\(?\w{1,20}\)?:)?\s*/;

const levelRules: Readonly<Record<Level, RegExp>> = {
  'read uncommitted': /read[ -]uncommitted/i,
  'read committed': /read[ -]committed/i,
  'repeatable read': /repeatable[ -]read/i,
  snapshot: /snapshot isolation/i,
  serializable: /serializable/i,
};

/** The case that a text holds, if the script reader finds sessions in it. */
export function caseInText(text: string, file: string): ReturnType<typeof parseScript> | undefined {
  if (text.length > mostChars) return undefined;
  try {
    const scheduled = parseScript(text, { file });
    return isUsable(scheduled.case) ? scheduled : undefined;
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

/** Prose with a colon can look like sessions; a case has at least two of them, and reads or writes something. */
function isUsable({ sessions }: Case): boolean {
  const statements = sessions.flatMap((session) => session.statements);
  const works = statements.filter((sql) => /^(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|MERGE)\b/i.test(sql));
  return sessions.length >= 2 && works.length >= 2;
}

/** `engine`: of which the report speaks. */
export function textFeatures(text: string, engine?: string): Features {
  const read = caseInText(text, 'report');
  if (read !== undefined) return caseFeatures(read.case, { engine });
  const lines = text.slice(0, mostChars).split('\n').slice(0, mostLines);
  const statements = lines.map((line) => line.slice(0, 2_000).replace(prompt, ''));
  const has = new Set([...statements.flatMap(flagsOfStatement), ...statements.flatMap(flagsOfTables)]);
  if (/\b(clusters?|galera|replicas?|tikv nodes?)\b/i.test(text.slice(0, mostChars))) has.add('cluster');
  return {
    levels: levels.filter((level) => levelRules[level].test(text.slice(0, mostChars))),
    mode: /\boptimistic\b/i.test(text.slice(0, mostChars)) ? 'optimistic' : modeOf(engine),
    has: [...has].sort(),
  };
}
