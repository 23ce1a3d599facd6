export {
  type Asked,
  type Candidate,
  candidateCount,
  isKnown,
  isKnownByText,
  type KnownAnswer,
  type KnownReference,
  type KnownVerdict,
  type Place,
} from './answer.js';
export { caseFeatures } from './case-features.js';
export { type KnownEntry, type Status, type Symptom, statuses, symptoms } from './entry.js';
export { encode, type Features, type Flag, featureCount, flags } from './features.js';
export { type ImportedReport, type ImportOptions, importReports } from './import-report.js';
export { type KnownCase, parseKnownCase, type Shows, showsBug, wrongLines } from './known-case.js';
export { addToFolder, type OwnReport } from './own-folder.js';
export { type KnownBug, type OpenKnownOptions, openKnown, type Repository } from './repository.js';
export { type JudgeBy, type KnownFinding, type KnownRun, type ObserveKnown, runKnown } from './run-known.js';
export { release, type Shown, shownMarkdown, shownOf } from './shown.js';
export { caseInText, textFeatures } from './text-features.js';
export { likeness, nearest, weigh } from './weights.js';
