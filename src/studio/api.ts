/** What pages get: the types that the client is built against. */
export type { TraceMoment, TraceRead, TraceRow, TraceTransaction, TraceVersion } from '../check/index.js';
export type {
  BugPage,
  DependencyPicture,
  LaneEntry,
  PhrasePart,
  RunPage,
  WrongAnswer,
} from '../report/index.js';
export type { BugLine, BugListPage } from './bugs.js';
export type { ComparedAnswer, ComparedStatement } from './compared.js';
export type { News, NewsKind } from './events.js';
export type { FindingMark, HistoryCheck } from './history/findings.js';
export type { HistoryChoice, HistoryChoices } from './history/histories.js';
export type { TileOperation } from './history/history-window.js';
export type { HistoryPage, OpenHistoryPage, OperationPage } from './history/opened-history.js';
export type { Counted, HuntCoverage } from './hunt-coverage.js';
export type { HuntPage, HuntSample } from './hunting.js';
export type { PlayedRun, PlayPage } from './playing.js';
export type { ProbeCellPage, ProbePage } from './probing.js';
export type { ShrinkPage, ShrinkTreeNode } from './shrinking.js';
export type { TargetChoice } from './studio-targets.js';
