/** The checker of key-value histories as an oracle: recorded histories only. */
import type { Oracle } from '../oracle.js';
import { checkDemand } from './kv-contract.js';

export const kvOracle: Oracle = {
  name: 'key-value',
  title: 'levels of isolation of histories that read and write keys',
  needs: { run: 'none' },
  refuses: () => 'it judges recorded key-value histories, not runs',
  check(recorded, demand, { anomalies, budget, memory, strongest, certificate, onProgress, onVerdict }) {
    if (recorded.kind !== 'kv') return undefined;
    const { contract } = demand;
    const result = checkDemand(recorded.history, demand, {
      ...(anomalies !== undefined && { anomalies }),
      ...(budget !== undefined && { budget }),
      ...(memory !== undefined && { memory }),
      ...(strongest !== undefined && { strongest }),
      ...(certificate !== undefined && { certificate }),
      ...(onProgress !== undefined && { onProgress }),
      ...(onVerdict !== undefined && { onVerdict }),
    });
    return {
      ...result,
      oracle: 'key-value',
      ...(contract !== undefined && { contract: contract.id }),
      skipped: [],
    };
  },
};
