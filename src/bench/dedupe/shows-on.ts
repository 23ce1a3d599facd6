/** Whether a bug of the set shows on a build: its case is answered there as where it was found, in all that proves its finding. */
import { findContract } from '../../contracts/index.js';
import { sameAnswers } from '../../dedupe/index.js';
import type { Build } from '../../known/index.js';
import type { LabelledItem } from './labelled-set.js';

/** Sessions that run at once answer in any order: one run of so many is enough to show a bug. */
const mostTries = 3;

export async function showsOn(item: LabelledItem, { observe }: Pick<Build, 'observe'>): Promise<boolean> {
  const { case: program, schedule, level, finding } = item;
  const contract = finding.contract === undefined ? undefined : findContract(finding.contract);
  const request = {
    ...{ case: program, schedule, level, oracle: finding.oracle },
    ...(contract !== undefined && { contract }),
  };
  const tries = schedule.batches.some(({ length }) => length > 1) ? mostTries : 1;
  for (let i = 0; i < tries; i++) {
    const observed = await observe(request, i === 0 ? undefined : 'again');
    if (observed.kind === 'ran' && observed.findings.length > 0 && sameAnswers(item, observed.history))
      return true;
  }
  return false;
}
