export { type BugRecord, type RunLine, readTarget } from './bug-file.js';
export { fileNames as bugFileNames } from './bug-folder.js';
export { type Added, type AddOptions, type BugList, type BugStore, UnreadableBug } from './bug-store.js';
export { diskFiles, readText, type StoreFiles } from './files.js';
export type { ForeignOptions } from './foreign-bugs.js';
export type { Ignored } from './ignore-file.js';
export { type Judgement, judgeRun } from './judge-run.js';
export { type JunitCase, printJunit, printJunitSuite, type RerunReport } from './junit.js';
export { openBugStore } from './open-bug-store.js';
export { type RerunOptions, type RerunResult, rerunBug } from './rerun.js';
export {
  isSharedUrl,
  SharedDatabase,
  type SharedDatabaseOptions,
  SharedUnavailable,
  type Sql,
} from './shared/shared-database.js';
export { addPacked, addTried, countUp, type PackedBug, packBug, SharedStore } from './shared/shared-store.js';
export { prepareTables, sharedSchema, storeTables, type TableSet } from './shared/shared-tables.js';
export { openStore, type Store, type StoreOptions } from './store.js';
