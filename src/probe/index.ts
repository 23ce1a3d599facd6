export { findProbeCases, probeCases } from './cases/index.js';
export { type Judgement, judge, type Verdict } from './judge.js';
export { type Evidence, observer, type ProbeCase, type ProbeText, probeCase } from './probe-case.js';
export { probeJson } from './probe-json.js';
export { type ExplainOptions, renderExplain } from './render-explain.js';
export { renderMarkdown } from './render-markdown.js';
export { type Colors, type MatrixOptions, renderMatrix } from './render-matrix.js';
export {
  type ProbeLevel,
  type ProbeOptions,
  type ProbeProgress,
  type ProbeReport,
  type ProbeResult,
  probeOutcome,
  runProbe,
} from './run-probe.js';
export { type Seen, type SeenRows, Unclear } from './seen.js';
