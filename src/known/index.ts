export {
  candidateCount,
  type IsKnownOptions,
  isKnown,
  isKnownByText,
  type KnownAnswer,
  type KnownVerdict,
} from './answer.js';
export {
  type AskedBug,
  type BuildsFor,
  type Candidate,
  type CaseNames,
  type KnownReference,
  type Match,
  matches,
} from './candidate.js';
export { caseFeatures } from './case-features.js';
export { type KnownEntry, type Status, type Symptom, statuses, symptoms } from './entry.js';
export { encode, type Features, type Flag, flags, type Mode } from './features.js';
export { foundReport, repositoryOf } from './found-report.js';
export { type ImportedReport, type ImportOptions, importReports } from './import-report.js';
export {
  type CaseSource,
  caseSources,
  type KnownCase,
  parseKnownCase,
  type Shows,
  showsBug,
  type Wrong,
  wrongLines,
  wrongOf,
} from './known-case.js';
export { addToFolder, type OwnReport, readReportText } from './own-folder.js';
export { type ReportText, readReportTexts } from './report-text.js';
export { isAffected, versionsForReport } from './report-versions.js';
export { type KnownBug, type OpenKnownOptions, openKnown, type Repository } from './repository.js';
export {
  findingKey,
  type JudgeBy,
  type KnownFinding,
  type KnownRun,
  keyOfFinding,
  type ObserveKnown,
  runKnown,
} from './run-known.js';
export type { Build, KnownPlace } from './runnable.js';
export { isSameBug, type SameBug } from './same-bug.js';
export { recordName, type Shown, shownMarkdown, shownOf } from './shown.js';
export { isSameStorage } from './storage.js';
export { caseInText, textFeatures } from './text-features.js';
export { likeness, nearest, type Vector, weigh } from './weights.js';
export {
  compareWitnesses,
  type Sighting,
  type WitnessCell,
  type WitnessOptions,
  type WitnessVerdict,
} from './witness.js';
