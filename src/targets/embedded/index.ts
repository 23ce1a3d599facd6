export { choose, type EmbeddedUrl, parseEmbeddedUrl } from './embedded-url.js';
export { duckdbGuard, sqliteGuard } from './engine-guard.js';
export type { FileConnection, FileEngine, FileReply } from './file-engine.js';
export { leftoversIn, sweepLeftovers } from './file-leftovers.js';
export { FileScratch, scratchParent } from './file-scratch.js';
export { fileTarget } from './file-target.js';
export { loadDriver, missingDriver, packageVersion, resolvePackage } from './load-driver.js';
export { classifySqliteMessage, isRowWrite, sqliteValue } from './sqlite-family.js';
