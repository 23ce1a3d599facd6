/** Findings of an engine with an injected fault that are none of the fault: the engine shows them by itself. */
import { oraclesFor } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { type BurstFinding, burstPrograms, burstsOf, rateBurst } from '../hunt/index.js';
import { contractAt, type Database } from '../judge/index.js';
import type { Bug } from '../report/index.js';

/** Whether the engine shows something in this case by itself. */
export async function showsWithout(bug: Bug, healthy: Database): Promise<boolean> {
  const contract = contractAt('vendor', healthy.target, bug.level);
  const judges = oraclesFor(contract).map(({ name }) => name);
  const asked = new Set(['mechanism', 'dependency-graph', bug.finding.oracle]);
  for (const oracle of judges.filter((name) => asked.has(name))) {
    const { case: program, schedule, level } = bug;
    const observed = await healthy.observe({ case: program, schedule, oracle, level, contract }, 0);
    if (observed.kind === 'ran' && observed.findings.length > 0) return true;
  }
  return false;
}

/** The same for a broken burst. */
export async function burstShowsWithout(found: BurstFinding, { target }: Database): Promise<boolean> {
  const program = burstPrograms.filter(({ name }) => name === found.program);
  const [burst] = burstsOf(program, target, found.size, [found.form]);
  const contract = findContract(found.contract);
  if (burst === undefined || contract === undefined) return false;
  const { level, size } = found;
  const { broken } = await rateBurst(target, burst, { level, contract, size, runs: 3 });
  return broken > 0;
}
