/**
 * Reports from files become entries of the user's own folder: facts and features. The tables that Pisco's authors published are read by their own columns
 * (`study-csv.ts`, `feature-table.ts`), everything else as a report (`report-text.ts`). Where the script reader finds sessions in a report and every
 * statement is on the allow-list, its case comes along. Nothing is run here.
 */
import { type ScheduledCase, serialOrder } from '../cases/index.js';
import { FileError } from '../errors.js';
import { findForbiddenStatement, sqlOfCase } from '../targets/index.js';
import { caseFeatures } from './case-features.js';
import { idOfName, type KnownEntry, type Status } from './entry.js';
import { isFeatureTable, readFeatureTable } from './feature-table.js';
import { type ReportText, readReportTexts } from './report-text.js';
import { isStudy, readStudy } from './study-csv.js';
import { caseInText, textFeatures } from './text-features.js';

export interface ImportedReport {
  readonly entry: KnownEntry;
  readonly case?: Required<ScheduledCase>;
  readonly source?: 'facts';
  /** What a report without a usable case says, cut off at a bound: it is shown and compared, never run. */
  readonly text?: string;
  /** Why its case was left out, if one was found. */
  readonly note?: string;
}

export interface ImportOptions {
  /** Named in errors; its ending says which form it has. */
  readonly file: string;
  /** As targets are called; where the text does not say. */
  readonly engine?: string;
  readonly id?: string;
}

export function importReports(text: string, options: ImportOptions): ImportedReport[] {
  const { file, id } = options;
  if (/\.csv$/i.test(file)) {
    const [read] = [isStudy(text) && readStudy, isFeatureTable(text) && readFeatureTable].filter(Boolean);
    if (read) return read(text, file).map((entry) => ({ entry }));
  }
  const reports = readReportTexts(text, file);
  if (reports.length > 1 && id !== undefined)
    throw new FileError({ file }, 'it has several issues: an id can be given to one only');
  return reports.map((report) => importText(report, options));
}

function importText(report: ReportText, options: ImportOptions): ImportedReport {
  const { file } = options;
  const { title, text, url } = report;
  const engine = options.engine ?? report.engine;
  if (engine === undefined)
    throw new FileError({ file }, 'the report does not say of which engine it speaks; name it with --engine');
  const name = (report.name ?? title.slice(0, 120)) || file;
  const found = caseInText(text, file);
  const forbidden = found && findForbiddenStatement(sqlOfCase(found.case), found.case.dialect);
  const usable = forbidden === undefined ? found : undefined;
  const entry: KnownEntry = {
    id: options.id ?? idOfName(name.replace('#', '')),
    name,
    engine,
    ...(url !== undefined && { url }),
    status: statusOf(report.state),
    symptom: 'unknown',
    about: title.slice(0, 500),
    affected: [],
    fixed: [],
    features: usable === undefined ? textFeatures(text, engine) : caseFeatures(usable.case, { engine }),
  };
  return {
    entry,
    ...(usable && {
      case: { case: usable.case, schedule: usable.schedule ?? serialOrder(usable.case) },
      source: 'facts' as const,
    }),
    ...(usable === undefined && text.trim() !== '' && { text: boundedText(text) }),
    ...(forbidden !== undefined && { note: `its case is left out, because ${forbidden}` }),
    ...(found === undefined && {
      note: 'no sessions were found in it: it is kept by its features and as text',
    }),
  };
}

/** A report is read by people, and by nobody to its end: the rest of a long one is left out, and that is said. */
export const mostTextChars = 64 * 1024;

function boundedText(text: string): string {
  if (text.length <= mostTextChars) return text;
  return `${text.slice(0, mostTextChars)}\n[${text.length - mostTextChars} further characters are left out]\n`;
}

function statusOf(state: string): Status {
  // Whole words: a tracker's "Unresolved" is open.
  if (/\b(fixed|resolved)\b/i.test(state)) return 'fixed';
  if (/\bclosed\b/i.test(state)) return 'closed';
  return /\b(verified|confirmed)\b/i.test(state) ? 'confirmed' : 'open';
}
