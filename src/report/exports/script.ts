/**
 * The case in Isolde's own script form: `isolde run repro.sql` runs it by its schedule. Sessions are named in comments, so that the vendor's
 * client reads it, too.
 */
import { printScript } from '../../cases/index.js';
import type { ExportForm } from './export.js';

export const scriptExport: ExportForm = {
  name: 'script',
  unfit: () => undefined,
  files: (bug) => {
    const description = bug.case.description ?? bug.title;
    const level = bug.case.level ?? bug.level;
    return [
      {
        name: 'repro.sql',
        text: printScript(
          { case: { ...bug.case, description, level }, schedule: bug.schedule },
          { inComments: true },
        ),
      },
    ];
  },
};
