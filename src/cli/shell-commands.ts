/** `isolde completion SHELL` and `isolde man`: what a shell and `man` want to know of the other commands. */
import { Argument, type Command } from 'commander';
import { commandTree } from './command-tree.js';
import { completionScript, type Shell, shells } from './completion.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { manPage } from './man-page.js';

export function completionCommand(
  program: Command,
  context: CliContext,
  exit: (code: ExitCode) => void,
): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices([...shells]))
    .description('print a completion script for a shell')
    .addHelpText(
      'after',
      '\nbash: eval "$(isolde completion bash)"; zsh: eval "$(isolde completion zsh)"; fish: isolde completion fish | source',
    )
    .action((shell: Shell) => {
      context.file(completionScript(shell, commandTree(program)));
      exit(exitCodes.nothingFound);
    });
}

export function manCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('man')
    .description('print the manual page: isolde man | man -l -')
    .action(() => {
      context.file(manPage(commandTree(program), program.version() ?? ''));
      exit(exitCodes.nothingFound);
    });
}
