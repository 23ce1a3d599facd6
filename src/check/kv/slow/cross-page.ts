/** The page that `npm run check:cross -- --write FILE` writes: a row per level. Rows of levels that were not run now stay as they are. */

/** What comparing the fast and the slow checker of a level gave. */
export interface CrossRow {
  readonly level: string;
  /** The commit that was run. */
  readonly commit: string;
  readonly histories: number;
  readonly seed: number;
  readonly broken: number;
  readonly undecided: number;
  /** Left undecided because a committed read has no result. */
  readonly withoutResult: number;
  /** Verdicts whose certificate the independent verifier accepted. */
  readonly proved: number;
  readonly disagreements: number;
}

const columns = [
  ['level', 'level'],
  ['commit', 'commit'],
  ['histories', 'histories'],
  ['seed', 'seed'],
  ['broken', 'broken'],
  ['undecided', 'undecided'],
  ['withoutResult', 'without a result'],
  ['proved', 'proved'],
  ['disagreements', 'disagreements'],
] as const satisfies readonly (readonly [keyof CrossRow, string])[];

/** The page with these rows in place of older ones of the same levels; `names` says which levels there are, in order. */
export function crossPage(before: string, rows: readonly CrossRow[], names: readonly string[]): string {
  const kept = new Map<string, readonly (string | number)[]>(
    rowsOf(before).map((cells) => [cells[0]!, cells]),
  );
  for (const row of rows) {
    const cells = columns.map(([column]) => row[column]);
    kept.set(row.level, cells);
  }
  const lines = names.flatMap((name) => {
    const cells = kept.get(name);
    return cells === undefined ? [] : [`| ${cells.join(' | ')} |`];
  });
  return `# Fast and slow checkers compared

Written by \`npm run check:cross -- --write docs/stages/check-cross.md\`; do not edit it by hand. Each level's checker was held against a slow
one that tries everything (\`src/check/kv/slow/\`), on random small histories of up to five transactions (four for the two weakest levels of real time): a seventh each are lists, registers, lists and
registers with values written twice, registers where 0 may be the initial state too, and lists and registers with values that nobody wrote
and with reads without a result. Some transactions aborted, some are of unknown outcome. Histories with over 20,000 ways to say which write each read saw are
drawn again.

- *Broken*: the slow checker says that the level does not hold.
- *Without a result*: left undecided because a committed transaction has a read without a result; \`true\` would be a disagreement. *Undecided*: the others.
- *Proved*: verdicts, \`true\` and \`false\`, whose certificate the verifier accepted, which has no code of the checkers.
- *Disagreements*: differing verdicts, and verdicts without an accepted certificate.

| ${columns.map(([, title]) => title).join(' | ')} |
|${columns.map(([column]) => (column === 'level' || column === 'commit' ? '---' : '---:')).join('|')}|
${lines.join('\n')}
`;
}

/** The rows of a page that have all columns. */
function rowsOf(page: string): string[][] {
  return page.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const isRow =
      cells.length === columns.length + 2 && cells.slice(3, -1).every((cell) => /^\d+$/.test(cell));
    return isRow ? [cells.slice(1, -1)] : [];
  });
}
