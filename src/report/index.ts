export { type AccessRow, accessRows } from './access-table.js';
export {
  type Bug,
  type BugVariant,
  makeBug,
  type NewBug,
  plainRun,
  type RawSize,
  type Reproduced,
  type RerunOutcome,
  type SecondLook,
  sizeOfHistory,
  type VersionTried,
} from './bug.js';
export {
  type BugPage,
  bugPage,
  type DependencyPicture,
  type LaneEntry,
  type RunFacts,
  type RunPage,
  runPage,
  type WrongAnswer,
} from './bug-page.js';
export { type ClosingDamage, closingDamage } from './closing-reads.js';
export { type Comparison, compareAnswers } from './comparison.js';
export { type ReportDocument, type Reproduction, reportDocument } from './document.js';
export {
  answerKey,
  sameAnswers,
  witnessOperations,
} from './evidence.js';
export { type ExportFile, type ExportForm, exportFiles, exportForms } from './exports/index.js';
export { contractName, contractTitle, factsOf } from './facts.js';
export { foundUrl, homeUrl } from './home-url.js';
export { type PageParts, readParts, reportHtml } from './html.js';
export { knownLine } from './known.js';
export { reportMarkdown } from './markdown.js';
export { mechanismOf } from './mechanism-of.js';
export { nameEngine, nameFinding } from './names.js';
export { type PhrasePart, phraseParts } from './phrases.js';
export { shown, shownText } from './shown.js';
export { reportTerminal, type TerminalStyle } from './terminal.js';
