/** The commands with their arguments and options as data: what completion scripts and the man page are made of. */
import type { EventEmitter } from 'node:events';
import type { Argument, Command } from 'commander';

export interface OptionNode {
  /** `--for`, or `--no-reuse`; undefined where there is only a letter. */
  readonly long: string | undefined;
  readonly short: string | undefined;
  /** As the help prints it: `-t, --target <url>`. */
  readonly flags: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export interface CommandNode {
  /** The words that call it: `[]` for the program, `['bugs', 'list']`. */
  readonly path: readonly string[];
  readonly description: string;
  /** As the help prints them: `<file...>`. */
  readonly argumentsText: string;
  readonly options: readonly OptionNode[];
  /** What the help adds below: exit codes, hints. */
  readonly after: string;
  readonly commands: readonly CommandNode[];
}

/** Every command's help says what its exit code means; those that say nothing of their own succeed or fail. */
export function addExitCodes(program: Command): void {
  for (const command of program.commands) {
    addExitCodes(command);
    if (command.commands.length === 0 && !textAfter(command).includes('Exit code'))
      command.addHelpText('after', '\nExit code: 0, or 3 for an error.');
  }
}

function textAfter(command: Command): string {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  // Its types do not tell, but a command is an emitter: that is how help texts are added.
  (command as Command & Pick<EventEmitter, 'emit'>).emit('afterHelp', { error: false, command, write });
  return text.trim();
}

export function commandTree(command: Command, path: readonly string[] = []): CommandNode {
  const help = command.createHelp();
  return {
    path,
    description: command.description(),
    argumentsText: command.registeredArguments.map(argumentText).join(' '),
    options: help.visibleOptions(command).map((option) => ({
      long: option.long,
      short: option.short,
      flags: option.flags,
      description: help.optionDescription(option),
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
    after: textAfter(command),
    commands: help
      .visibleCommands(command)
      .filter((below) => below.name() !== 'help')
      .map((below) => commandTree(below, [...path, below.name()])),
  };
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** The tree as a list, parents before their children. */
export function allCommands(tree: CommandNode): CommandNode[] {
  return [tree, ...tree.commands.flatMap(allCommands)];
}
