/** A history as a job: the file comes from the database, is read like any file from a stranger, and its verdict goes back. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { check, parseDemand } from '../check/index.js';
import { IsoldeError } from '../errors.js';
import { readAnyHistory } from '../histories/index.js';
import { makeTemporaryFolder } from '../temporary-folder.js';
import type { CheckJob } from './job.js';
import type { JobOutcome } from './queue.js';

/** What `isolde check` says of a file, without proofs and explanations. */
export interface CheckAnswer {
  readonly file: string;
  readonly format: string;
  readonly valid: boolean | 'unknown';
  readonly kinds: readonly string[];
  readonly strongest: readonly string[];
  readonly unknownReasons: readonly string[];
}

export async function runCheckJob(job: CheckJob, content: Uint8Array | undefined): Promise<JobOutcome> {
  if (content === undefined) throw new IsoldeError('bad-file', `${job.file}: the file is missing`);
  const folder = await makeTemporaryFolder('fleet-check');
  try {
    const path = join(folder.path, job.file);
    await writeFile(path, content);
    const read = await readAnyHistory(
      path,
      job.historyFormat === undefined ? {} : { format: job.historyFormat },
    ).catch((error: unknown) => {
      if (!(error instanceof IsoldeError)) throw error;
      // Who submitted the file knows it by its name, not by where it lay here.
      throw new IsoldeError(error.code, error.message.replaceAll(path, job.file), { cause: error });
    });
    const result = check(read, parseDemand(job.level, job.contract));
    const answer: CheckAnswer = {
      file: job.file,
      format: read.format,
      valid: result.valid,
      kinds: [...new Set(result.findings.map(({ kind }) => kind))],
      strongest: result.strongest,
      unknownReasons: result.unknownReasons,
    };
    return { result: JSON.stringify(answer), bugs: [], line: `checked ${job.file}: ${result.valid}` };
  } finally {
    await folder.remove();
  }
}
