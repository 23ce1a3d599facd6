/** One form a bug can be handed over in. Each is a file of this folder and one line in the registry. */
import type { Bug } from '../bug.js';

export interface ExportFile {
  readonly name: string;
  readonly text: string;
}

export interface ExportForm {
  readonly name: string;
  /** Why a bug cannot have this form, or undefined if it can. */
  unfit(bug: Bug): string | undefined;
  files(bug: Bug): readonly ExportFile[];
}
