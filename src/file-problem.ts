/** Errors of the file system, in words. */
import { errorText, IsoldeError } from './errors.js';

const meanings: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file stands where a folder should be',
  EEXIST: 'it exists already',
  ENOENT: 'there is no such file',
};

/** An error of the file system, in words. */
export function fileProblem(doing: 'read' | 'write', path: string, cause: unknown): IsoldeError {
  if (cause instanceof IsoldeError) return cause;
  const why = meanings[codeOf(cause)] ?? errorText(cause);
  return new IsoldeError('file-system', `cannot ${doing} ${path}: ${why}`, { cause });
}

export function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
