/** Why two causes are taken for one another, where they are: one argument for each pair, by what their faults do. */

const explanations: readonly (readonly [one: RegExp, other: RegExp, why: string])[] = [
  [
    /visible-committed-delete|resurrected-row/,
    /visible-committed-delete|resurrected-row/,
    'both show a row to later reads whose deletion was committed; the one to plain reads only, the other has stored it again. A write of that row tells them apart, and nothing else does: a limit where no change of the case makes one.',
  ],
  [
    /partial-commit|lost-update/,
    /partial-commit|lost-update/,
    'both lose a write that was accepted and committed; they differ in which one, and in whether its own transaction saw it. A read between the write and COMMIT tells them apart, and nothing else does: a limit where no change of the case makes one.',
  ],
  [
    /phantom-in-snapshot|weaker-level/,
    /phantom-in-snapshot|weaker-level/,
    'both show a transaction rows that were committed after its snapshot; the one only rows that were added. An update or a delete in place of the insert tells them apart, where what the cases insert can be inserted before by a plain INSERT that the oracle follows.',
  ],
  [
    /lost-update/,
    /stale-reevaluation/,
    'that nothing fails is all that is wrong in the answers of the report’s case, and it holds on a correct database, too. The build with the other fault breaks that case in a way of its own (a lock is not held), which must not be taken for what the report is about.',
  ],
  [
    /partial-commit/,
    /unique/,
    'the time of its hunt was over before the case was reduced (some 80 statements, several at once): what it answers depends on chance, and a signature is meant for reduced cases.',
  ],
  [
    /turso/,
    /unique/,
    'both show in 0.4.3 and 0.4.4 and are gone in 0.5.3 and later: one change, which may have fixed several bugs, and they do not behave alike (two inserts that both succeed; two equal keys that a read shows). By the rule that is not enough for one bug.',
  ],
  [
    /innodb/,
    /unique/,
    'MySQL recognises an update that changes nothing only if it has read the column, MariaDB always does: the cases differ in a cell, though the root cause is one (dedupe.md, “Two families”).',
  ],
];

export function explanationOf(cause: string, takenFor: string): string {
  const found = explanations.find(([one, other]) => one.test(cause) && other.test(takenFor));
  if (found !== undefined) return found[2];
  if (takenFor === 'undecided') return 'what was run does not decide it.';
  if (takenFor === 'unique') return 'nothing that was run connects the bug with its report.';
  return 'not explained yet.';
}
