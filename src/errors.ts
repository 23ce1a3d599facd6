/**
 * Errors for misuse and broken environments. What a database answers is never one of these: it is data
 * (`targets/target.ts`, `Answer`), and so is a verdict.
 */

/** Stable names a program can branch on; the message is for people. */
export type ErrorCode =
  | 'usage' // the command line or the API was called wrongly
  | 'bad-file' // a file is not what its format asks for
  | 'file-system' // a file cannot be read or written (missing, no permission, disk full)
  | 'engine-missing' // an optional driver or a server program is not installed
  | 'connect' // the database cannot be reached or refuses us
  | 'target' // the database fails outside a case's statements (creating a scratch namespace, set-up, reset)
  | 'safety'; // going on could touch what Isolde did not create

/** An error whose message says what happened, with which value, and what to do about it. */
export class IsoldeError extends Error {
  override readonly name = 'IsoldeError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** Where in a file something is wrong; `line` counts from 1. */
export interface FilePlace {
  readonly file: string;
  readonly line?: number | undefined;
  readonly field?: string | undefined;
}

/** A file that does not follow its format: always says file, line (where lines mean something) and field. */
export class FileError extends IsoldeError {
  constructor(
    readonly place: FilePlace,
    readonly problem: string,
  ) {
    const line = place.line === undefined ? '' : `:${place.line}`;
    const field = place.field === undefined ? '' : ` (${place.field})`;
    super('bad-file', `${place.file}${line}${field}: ${problem}`);
  }
}

/** The text of anything that was thrown. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
