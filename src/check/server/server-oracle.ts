/** The server itself as something that can be wrong: it must answer every statement, whatever it is made to run. */
import { findingIdentity } from '../identity.js';
import type { Oracle } from '../oracle.js';
import { serverFinding, wentAway } from './server-finding.js';

export const serverOracle: Oracle = {
  name: 'server',
  title: 'crashes, lost connections and statements that are never answered',
  needs: { run: 'any' },
  refuses: () => undefined,
  judge(history, _plan, { contract }) {
    const found = wentAway(history) ? serverFinding(history) : undefined;
    return {
      valid: found === undefined,
      oracle: 'server',
      contract: contract.id,
      findings: found === undefined ? [] : [found],
      beyond: [],
      strongest: [],
      unknownReasons: [],
      skipped: [],
      notes: [],
      history,
    };
  },
  identity: findingIdentity,
  focus: (finding) => finding,
};
