export { argumentHtml, argumentMarkdown } from './argument.js';
export {
  type Bug,
  type BugVariant,
  makeBug,
  type NewBug,
  type RawSize,
  type Reproduced,
  type RerunOutcome,
  type SecondLook,
  sizeOfHistory,
  type VersionTried,
} from './bug.js';
export { type Comparison, compareAnswers } from './comparison.js';
export { type ReportDocument, type Reproduction, reportDocument } from './document.js';
export {
  answerKey,
  sameAnswers,
  witnessOperations,
} from './evidence.js';
export { type ExportFile, type ExportForm, exportFiles, exportForms } from './exports/index.js';
export { contractName, factsOf } from './facts.js';
export { homeUrl } from './home-url.js';
export { reportHtml } from './html.js';
export { knownLine } from './known.js';
export { reportMarkdown } from './markdown.js';
export { nameEngine, nameFinding } from './names.js';
export { reportTerminal, type TerminalStyle } from './terminal.js';
export { timelineSvg } from './timeline.js';
