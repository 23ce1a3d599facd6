/** The ways reports say which session sends a statement. */
import { startsStatement } from './report-noise.js';

const longWord =
  '(?:session|sess|connection|conn|con|client|transaction|trans|txn|trx|tx|thread|terminal|window|shell|user|node|worker|process)';
const name = `(?:${longWord}[ _#-]{0,2}(?:\\d+|[A-FXYZ](?![A-Za-z]))|(?:mysql|mariadb|sql|cli|s|t|c|p|tr|db)[ _#-]?\\d+)`;
const lead = '(?:in |on |for |the )?';

/** How a line names its session: in front of the SQL, on a line of its own, or behind it. */
export type LabelStyle = 'comment' | 'bracket' | 'prompt' | 'colon' | 'heading' | 'trailing';

export interface LineLabel {
  readonly style: LabelStyle;
  readonly sessions: readonly string[];
  readonly rest: string;
  /** The statements are set-up, whoever sends them. */
  readonly setup: boolean;
}

const comment = new RegExp(`^/\\*?\\s*(init|setup|prepare|${name})\\s*\\*?/\\s*:?\\s*`, 'i');
const otherComment = /^\/\*\s*([A-Za-z]\w{0,11})\s*\*\/\s*/;
const bracket = new RegExp(`^[([]\\s*(${name}(?:\\s*,\\s*${name})*)\\s*[)\\]]\\s*:?\\s*`, 'i');
const prompted = new RegExp(`^(?:(?:mysql|mariadb|tidb|sql)[ -]*)?(${name})\\s*>+\\s*`, 'i');
const otherPrompt = /^([A-Za-z][\w-]*)\s*>\s+/;
const columns = new RegExp(`^\\|?\\s*${name}\\s*(?:\\|\\s*${name}\\s*)+\\|?$`, 'i');
const colon = new RegExp(`^(?:--\\s*|#+\\s*)?\\**\\s*(${name})\\s*\\**\\s*:\\**\\s*`, 'i');
const heading = new RegExp(
  `^(--+|#+|/\\*+|//|\\*+|=+|-)?\\s*${lead}(${name})\\s*(?:[:;.,=*()-]|\\*/|begins?|starts?)*\\s*(\\(.*)?$`,
  'i',
);
const trailing = new RegExp(
  `(?:--+|#|/\\*|//)\\s*${lead}(${name})(?![\\w'])(?!\\s+(?:is|was|will|un)?(?:block|releas|commit|hang|wait|fail))`,
  'i',
);
const clientPrompts = /^(mysql|mariadb|tidb|sqlite|sql|postgres|cockroach|test|root|master|slave)$/i;

const wholeName = new RegExp(`^${name}$`, 'i');

/** Whether a word is of the kind reports name sessions with. */
export function isSessionName(word: string): boolean {
  return wholeName.test(word);
}

/** The label a line begins with, or is. */
export function leadingLabel(line: string): LineLabel | undefined {
  const found = comment.exec(line);
  if (found !== null) {
    const setup = /^(init|setup|prepare)$/i.test(found[1]!);
    return { style: 'comment', sessions: [spell(found[1]!)], rest: line.slice(found[0].length), setup };
  }
  const word = otherComment.exec(line);
  if (word !== null && startsStatement(line.slice(word[0].length))) {
    return label('comment', word[1]!, line.slice(word[0].length));
  }
  const many = bracket.exec(line);
  if (many !== null) {
    const sessions = many[1]!.split(',').map(spell);
    return { style: 'bracket', sessions, rest: line.slice(many[0].length), setup: false };
  }
  const one = prompted.exec(line);
  // `c3 > 10` is a comparison.
  if (one !== null && (!/^\w{1,4} >/.test(one[0]) || startsStatement(line.slice(one[0].length)))) {
    return label('prompt', one[1]!, line.slice(one[0].length));
  }
  const other = otherPrompt.exec(line);
  if (other !== null && !clientPrompts.test(other[1]!) && startsStatement(line.slice(other[0].length))) {
    return label('prompt', other[1]!, line.slice(other[0].length));
  }
  const said = colon.exec(line);
  if (said !== null) {
    const rest = line.slice(said[0].length);
    const isComment = /^(--|#)/.test(line);
    return label('colon', said[1]!, isComment && !startsStatement(rest) ? '' : rest);
  }
  const alone = heading.exec(line);
  // Without a comment sign, a short word on its own line is as likely a table's name.
  if (alone === null || (alone[1] === undefined && /^[a-z]{1,2}\d/.test(alone[2]!))) return undefined;
  return label('heading', alone[2]!, '');
}

/** The session named in a comment behind a statement. */
export function trailingLabel(line: string): LineLabel | undefined {
  const another = /(?:--+|#|\/\/)\s*(?:in |on |by )?another\b/i.exec(line);
  if (another !== null && another.index > 0) return label('trailing', 'other', line.slice(0, another.index));
  const found = trailing.exec(line);
  if (found === null || found.index === 0) return undefined;
  return label('trailing', found[1]!, line.slice(0, found.index));
}

function label(style: LabelStyle, session: string, rest: string): LineLabel {
  return { style, sessions: [spell(session)], rest, setup: false };
}

/** `Session 1` and `session_1` are one session: words joined, in lower case, a letter at the end in capitals. */
function spell(text: string): string {
  const joined = text
    .trim()
    .toLowerCase()
    .replaceAll(/[ _#-]+/g, '');
  if (new RegExp(`^${longWord}$`).test(joined)) return joined;
  return joined.replace(new RegExp(`^(${longWord})([a-z])$`), (_, word: string, letter: string) => {
    return `${word}${letter.toUpperCase()}`;
  });
}

/** Turns a table with a column for each session into lines with labels. */
export function unfoldColumns(lines: readonly string[]): string[] {
  let sessions: string[] | undefined;
  let spaced: SpacedColumns | undefined;
  return lines.flatMap((line, l) => {
    const head = spacedColumns(line);
    if (head !== undefined) {
      spaced = head;
      return [];
    }
    if (/^\s*(expected|actual|suggested|what did|how to)\b|^\w[^;]*:\s*$/i.test(line)) spaced = undefined;
    if (spaced !== undefined && line.trim() !== '') return unfoldSpaced(line, spaced);
    // The head of a result table stands under a rule.
    if (columns.test(line) && !/^\s*\+-/.test(lines[l - 1] ?? '')) {
      sessions = cells(line).map(spell);
      return [];
    }
    if (sessions === undefined || !line.includes('|')) {
      if (line.trim() === '') sessions = undefined;
      return [line];
    }
    const names = sessions;
    return cells(line).flatMap((cell, c) =>
      cell === '' || names[c] === undefined ? [] : [`${names[c]}: ${cell}`],
    );
  });
}

interface SpacedColumns {
  readonly left: string;
  readonly right: string;
  /** Where the right column begins. */
  readonly at: number;
}

/** The head of two columns apart by white space alone, as trackers of the MySQL family show them. */
function spacedColumns(line: string): SpacedColumns | undefined {
  const found = /^\s*(\S(?:.*?\S)?)(?:\s{3,}|\t+)(\S.*?)\s*$/.exec(line);
  if (found === null) return undefined;
  const [, left, right] = found;
  if (!columns.test(`| ${left} | ${right} |`) || spell(left!) === spell(right!)) return undefined;
  return { left: spell(left!), right: spell(right!), at: line.replaceAll('\t', tab).lastIndexOf(right!) };
}

const tab = '        ';

/** A line is of the right column if it begins near its head, and of both if it leaves a gap there. */
function unfoldSpaced(line: string, { left, right, at }: SpacedColumns): string[] {
  const text = line.replaceAll('\t', tab).trimEnd();
  const begins = text.search(/\S/);
  // People shift columns by a little when they type.
  if (begins >= at - 4) return [`${right}: ${text.trim()}`];
  const gap = /\s{3,}(?=\S)/g;
  for (let found = gap.exec(text); found !== null; found = gap.exec(text)) {
    const from = found.index + found[0].length;
    if (found.index > begins && Math.abs(from - at) <= 4)
      return [`${left}: ${text.slice(0, found.index).trim()}`, `${right}: ${text.slice(from).trim()}`];
  }
  return [`${left}: ${text.trim()}`];
}

function cells(line: string): string[] {
  const text = line.trim();
  const framed = text.startsWith('|') && text.endsWith('|') && text.length > 1;
  return (framed ? text.slice(1, -1) : text).split('|').map((cell) => cell.trim());
}
