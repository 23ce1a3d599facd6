/** The isolation levels a session can be set to. What each promises is a contract's to say. */
export type Level = 'read uncommitted' | 'read committed' | 'repeatable read' | 'snapshot' | 'serializable';

export const levels: readonly Level[] = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'snapshot',
  'serializable',
];

const shorthands: Readonly<Record<string, Level>> = {
  ru: 'read uncommitted',
  rc: 'read committed',
  rr: 'repeatable read',
  si: 'snapshot',
  'snapshot isolation': 'snapshot',
  ser: 'serializable',
  sr: 'serializable',
};

/** A level from what people write: any case, `-`, `_` or space between words, `rr`, `SI`, `SER`. */
export function parseLevel(text: string): Level | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .replaceAll(/[-_\s]+/g, ' ');
  if (Object.hasOwn(shorthands, words)) return shorthands[words];
  return levels.find((level) => level === words);
}

/** The usual abbreviation: RU, RC, RR, SI, SER. */
export function shortLevel(level: Level): string {
  const short: Readonly<Record<Level, string>> = {
    'read uncommitted': 'RU',
    'read committed': 'RC',
    'repeatable read': 'RR',
    snapshot: 'SI',
    serializable: 'SER',
  };
  return short[level];
}
