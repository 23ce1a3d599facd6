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
];

export function explanationOf(cause: string, takenFor: string): string {
  if (takenFor === 'undecided') return 'what was run does not decide it.';
  if (takenFor === 'unique') return 'nothing that was run connects the bug with its report.';
  const found = explanations.find(([one, other]) => one.test(cause) && other.test(takenFor));
  return found?.[2] ?? 'not explained yet.';
}
