import { describe, expect, it } from 'vitest';
import { checkKv, verifyCertificate } from '../check/index.js';
import { plantedAnomalies, plantedHistory } from './planted.js';

/** `npm run bench check` does the same with 100,000 transactions. */
const txCount = 2_000;

describe(`one anomaly among ${txCount} valid transactions`, () => {
  for (const anomaly of plantedAnomalies) {
    it(`${anomaly.name} is found, named ${anomaly.kind} and proved by a few transactions`, () => {
      const history = plantedHistory(anomaly, txCount);
      const options = { definitions: 'adya', strongest: false, certificate: true } as const;
      const result = checkKv(history, { ...options, level: anomaly.level });
      expect(result.valid).toBe(false);
      expect(result.findings.map(({ kind }) => kind)).toEqual([anomaly.kind]);
      expect(result.findings[0]!.transactions.length).toBeLessThanOrEqual(6);
      const { certificate } = result;
      if (certificate?.valid !== false) throw new Error('the verdict came without its proof');
      expect(certificate.transactions.length).toBeLessThanOrEqual(6);
      expect(verifyCertificate(history, certificate)).toEqual({ accepted: true });
      const weaker = checkKv(history, { ...options, level: anomaly.below });
      expect(weaker.valid).toBe(true);
      expect(verifyCertificate(history, weaker.certificate!)).toEqual({ accepted: true });
    });
  }
});
