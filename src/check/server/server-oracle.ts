/** The server itself as something that can be wrong: it must answer every statement, whatever it is made to run. */
import { judgedHistory, type Oracle } from '../oracle.js';
import { serverFinding, wentAway } from './server-finding.js';

export const serverOracle: Oracle = {
  name: 'server',
  title: 'crashes, lost connections and statements that are never answered',
  needs: { run: 'any' },
  decisive: true,
  judge(history, _plan, { contract }) {
    const found = wentAway(history) ? serverFinding(history) : undefined;
    return judgedHistory(history, {
      oracle: 'server',
      contract: contract.id,
      findings: found === undefined ? [] : [found],
    });
  },
  focus: (finding) => finding,
};
