/** The dependency graph of an instrumented run as an oracle: any contract, vendor's or theory's. */
import { contractForTables } from '../../contracts/index.js';
import { changesSession } from '../../rows/index.js';
import { dependencyIdentity, focusDependencies } from '../identity.js';
import { judgedHistory, type Oracle } from '../oracle.js';
import { checkInstrumented } from './check-instrumented.js';
import { engineWords } from './engine-words.js';
import { instrumentCase } from './instrument-case.js';
import type { Instrumented } from './instrumented.js';
import { stripResults } from './strip-results.js';

export const instrumentOracle: Oracle<Instrumented> = {
  name: 'dependency-graph',
  title: 'cycles of dependencies between transactions, from row versions that instrumented statements show',
  needs: { run: 'instrumented' },
  rounds: 3,
  tracesVersions: true,
  prepare(program, { target, contract }) {
    const plan = instrumentCase(program, target.dialect, { ...engineWords(target.name), contract });
    return { program: plan.scheduled, observe: plan.observe, plan };
  },
  asWritten: (raw, plan) => stripResults(raw, plan).history,
  judge(raw, plan, { contract }) {
    const { setup = [], target } = raw.header;
    const found = contractForTables(contract, setup, target?.settings);
    const { findings, strongest, notes, history } = checkInstrumented(raw, plan, {
      contract: 'unjudged' in found ? contract : found.contract,
    });
    const about = { oracle: 'dependency-graph', contract: contract.id } as const;
    if ('unjudged' in found)
      return judgedHistory(history, { ...about, findings: [], unknownReasons: [found.unjudged] });
    // Marks show what a statement met only where it does what its text says.
    const unsettling = history.operations.find((each) => changesSession(each, history.header.dialect));
    if (unsettling !== undefined) {
      const reason = `a statement may change what others of its session mean: ${unsettling.sql}`;
      return judgedHistory(history, { ...about, findings: [], unknownReasons: [reason] });
    }
    return judgedHistory(history, {
      ...about,
      contract: found.contract.id,
      findings,
      strongest,
      unknownReasons: notes,
    });
  },
  identity: dependencyIdentity,
  focus: focusDependencies,
};
