/** `isolde verify-certificate HISTORY CERTIFICATE`: does the proof that `check --certificate` wrote prove its verdict? */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseCertificate, verifyCertificate } from '../check/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { readAnyHistory } from '../histories/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';

export function verifyCertificateCommand(
  program: Command,
  context: CliContext,
  exit: (code: ExitCode) => void,
): void {
  program
    .command('verify-certificate')
    .argument('<history>', 'a key-value history')
    .argument('<certificate>', 'what `isolde check --certificate` wrote for it')
    .description('check a proof by a program that shares nothing with the checker')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 the certificate proves its verdict, 1 it does not, 3 error.')
    .action(async (history: string, certificate: string, flags: { readonly json?: boolean }) =>
      exit(await verify(history, certificate, flags, context)),
    );
}

async function verify(
  file: string,
  certificateFile: string,
  { json }: { readonly json?: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const certificate = parseCertificate(await readText(certificateFile), certificateFile);
  const read = await readAnyHistory(file);
  if (read.kind !== 'kv') throw new IsoldeError('usage', `${file} is no key-value history`);
  const verified = verifyCertificate(read.history, certificate);
  const claim = `${certificate.level} ${certificate.valid ? 'holds' : 'is broken'}`;
  if (json === true) context.out(JSON.stringify({ file, certificate: certificateFile, claim, ...verified }));
  else context.out(`${certificateFile}\t${verified.accepted ? 'accepted' : 'rejected'}`);
  context.err(verified.accepted ? `proved: ${claim}` : `not proved: ${claim}: ${verified.why}`);
  return verified.accepted ? exitCodes.nothingFound : exitCodes.found;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new IsoldeError('file-system', `cannot read ${path}: ${errorText(cause)}`, { cause });
  }
}
