#!/usr/bin/env node
/** The command line: parse arguments, call a stage, print. Exit codes: 0 nothing found, 1 found, 2 undecided, 3 error. */
import './node-version.js';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { applyConfig, type Config, readConfig } from '../config-file.js';
import { addExitCodes } from './command-tree.js';
import { type CliContext, type CliWorld, type ExitCode, exitCodes, processContext } from './context.js';
import { addFetch } from './fetch-versions.js';
import { guardOutput } from './guarded-output.js';
import { describeFailure, endOnUnexpectedFailures } from './unexpected-failures.js';

type AddCommand = (program: Command, context: CliContext, exit: (code: ExitCode) => void) => void;

/** Every command, loaded when it is asked for: stages are large, and `isolde check` needs no hunt. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  demo: async () => (await import('./demo-command.js')).demoCommand,
  hunt: async () => (await import('./hunt-command.js')).huntCommand,
  burst: async () => (await import('./burst-command.js')).burstCommand,
  property: async () => (await import('./property-command.js')).propertyCommand,
  capabilities: async () => (await import('./capabilities-command.js')).capabilitiesCommand,
  bugs: async () => (await import('./bugs-command.js')).bugsCommand,
  dedupe: async () => (await import('./dedupe-command.js')).dedupeCommand,
  known: async () => (await import('./known-command.js')).knownCommand,
  probe: async () => (await import('./probe-command.js')).probeCommand,
  matrix: async () => (await import('./matrix-command.js')).matrixCommand,
  engines: async () => (await import('./engines-command.js')).enginesCommand,
  run: async () => (await import('./run-command.js')).runCommand,
  generate: async () => (await import('./generate-command.js')).generateCommand,
  check: async () => (await import('./check-command.js')).checkCommand,
  'verify-certificate': async () =>
    (await import('./verify-certificate-command.js')).verifyCertificateCommand,
  convert: async () => (await import('./convert-command.js')).convertCommand,
  reproduce: async () => (await import('./reproduce-command.js')).reproduceCommand,
  clean: async () => (await import('./clean-command.js')).cleanCommand,
  fleet: async () => (await import('./fleet-command.js')).fleetCommand,
  reduce: async () => (await import('./reduce-command.js')).reduceCommand,
  studio: async () => (await import('./studio-command.js')).studioCommand,
  completion: async () => (await import('./shell-commands.js')).completionCommand,
  man: async () => (await import('./shell-commands.js')).manCommand,
};

/** Answered without any command. */
const needsNone: ReadonlySet<string> = new Set(['--version', '-V']);
/** Answered with all of them. */
const needsAll: ReadonlySet<string> = new Set(['completion', 'man']);

/** Runs the command line and returns the exit code; everything it prints goes through the context. */
export async function main(args: readonly string[], world: CliWorld): Promise<ExitCode> {
  const config = configOf(world, args);
  const context = guardOutput(world, args, 'targets' in config ? config : undefined);
  if ('failure' in config) {
    context.err(describeFailure(config.failure));
    return exitCodes.error;
  }
  let code: ExitCode = exitCodes.nothingFound;
  const exit = (given: ExitCode) => {
    code = given;
  };
  const program = new Command('isolde')
    .description('finds, reproduces, shrinks and reports transaction-isolation bugs in SQL databases')
    .version('0.1.0')
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.err(text.trimEnd()),
    });
  const [asked = ''] = args;
  const isOne = Object.hasOwn(commands, asked) && !needsAll.has(asked);
  const wanted = isOne ? [asked] : needsNone.has(asked) ? [] : Object.keys(commands);
  for (const name of wanted) (await commands[name]!())(program, context, exit);
  program.commands.forEach((command) => {
    command.exitOverride().copyInheritedSettings(program);
  });
  addExitCodes(program);
  try {
    applyConfig(program, config, Object.keys(commands));
    addFetch(program, context);
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.nothingFound : exitCodes.error;
    context.err(describeFailure(error));
    return exitCodes.error;
  }
}

const noConfig: Config = { target: undefined, targets: new Map(), options: [] };

function configOf(
  { config }: CliWorld,
  [asked = '']: readonly string[],
): Config | { readonly failure: unknown } {
  if (config === undefined || needsNone.has(asked)) return noConfig;
  try {
    return readConfig(config);
  } catch (failure) {
    return { failure };
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  endOnUnexpectedFailures();
  if (process.env.ISOLDE_DEBUG === '1') process.setSourceMapsEnabled(true);
  process.exitCode = await main(process.argv.slice(2), processContext());
}
