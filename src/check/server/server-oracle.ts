/** The server itself as something that can be wrong: it must answer every statement, whatever it is made to run. */
import { judgedHistory, type Oracle } from '../oracle.js';
import { memoryFinding, serverFinding } from './server-finding.js';

export const serverOracle: Oracle = {
  name: 'server',
  title: 'crashes, lost connections, statements that are never answered, memory',
  needs: { run: 'any' },
  decisive: true,
  judge(history, _plan, { contract, memory }) {
    const found = serverFinding(history) ?? (memory && memoryFinding(history, memory));
    return judgedHistory(history, {
      oracle: 'server',
      contract: contract.id,
      findings: found === undefined ? [] : [found],
    });
  },
};
