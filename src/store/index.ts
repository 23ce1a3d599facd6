export type { BugRecord } from './bug-file.js';
export { diskFiles, fileProblem, readText, type StoreFiles } from './files.js';
export type { Ignored } from './ignore-file.js';
export { type Judgement, judgeRun } from './judge-run.js';
export { type JunitCase, printJunit, printJunitSuite, type RerunReport } from './junit.js';
export { type RerunOptions, type RerunResult, rerunBug } from './rerun.js';
export {
  type Added,
  type AddOptions,
  type BugList,
  openStore,
  type Store,
  type StoreOptions,
  UnreadableBug,
} from './store.js';
