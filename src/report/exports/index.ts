/** The registry of forms a bug can be handed over in. */
import type { Bug } from '../bug.js';
import type { ExportFile, ExportForm } from './export.js';
import { formExport } from './form.js';
import { instrumentedExport } from './instrumented.js';
import { mtrExport } from './mtr.js';
import { nodeExport } from './node-script.js';
import { scriptExport } from './script.js';
import { specExport } from './spec.js';

export const exportForms: readonly ExportForm[] = [
  scriptExport,
  instrumentedExport,
  specExport,
  mtrExport,
  nodeExport,
  formExport,
];

/** The files of every form that fits. */
export function exportFiles(bug: Bug): ExportFile[] {
  return exportForms.flatMap((form) => (form.unfit(bug) === undefined ? form.files(bug) : []));
}

export type { ExportFile, ExportForm } from './export.js';
