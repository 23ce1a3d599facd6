import { type ProbeReport, probeOutcome } from './run-probe.js';

/** The report as one JSON document; `docs/stages/probe.md` describes it. */
export function probeJson(report: ProbeReport): string {
  return JSON.stringify({ format: 'isolde-probe/1', outcome: probeOutcome(report), ...report });
}
