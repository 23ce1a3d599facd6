/**
 * Completion scripts for shells, made from the commands themselves. Each script finds the command that the words before the
 * cursor name, then offers its subcommands and options; where it has none that fit, file names.
 */
import { allCommands, type CommandNode } from './command-tree.js';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export function completionScript(shell: Shell, tree: CommandNode): string {
  switch (shell) {
    case 'bash':
      return bash(tree);
    case 'zsh':
      return zsh(tree);
    case 'fish':
      return fish(tree);
    default:
      return shell satisfies never;
  }
}

/** A text in single quotes, as all three shells read it (fish with its own escape). */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const optionNames = ({ options }: CommandNode): string[] =>
  options.flatMap(({ long, short }) => [long, short].filter((name) => name !== undefined));
const subcommands = (tree: CommandNode): CommandNode[] =>
  allCommands(tree).filter(({ path }) => path.length > 0);
const pathOf = ({ path }: CommandNode): string => path.join(' ');

/** Shell lines that walk the words before the cursor: `$named` becomes the command they name. */
function walk(tree: CommandNode, words: string): string[] {
  const steps = subcommands(tree).map((node) => {
    const before = node.path.slice(0, -1).join(' ');
    return quoted(`${before} ${node.path.at(-1)}`);
  });
  return [
    `  for word in ${words}; do`,
    `    case "$named $word" in`,
    `      ${steps.join('|')}) named="\${named:+$named }$word" ;;`,
    '    esac',
    '  done',
  ];
}

function bash(tree: CommandNode): string {
  const cases = allCommands(tree).map((node) => {
    const offered = [...node.commands.map(({ path }) => path.at(-1)!), ...optionNames(node)];
    return `    ${quoted(pathOf(node))}) offered=${quoted(offered.join(' '))} ;;`;
  });
  return [
    '# Completion of isolde for bash: eval "$(isolde completion bash)"',
    '_isolde() {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    "  local current=${COMP_WORDS[COMP_CWORD]} named='' word offered=''",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ...walk(tree, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"'),
    '  case "$named" in',
    ...cases,
    '  esac',
    "  local IFS=$' \\n'",
    '  COMPREPLY=($(compgen -W "$offered" -- "$current"))',
    "  IFS=$'\\n'",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))',
    '}',
    'complete -o filenames -F _isolde isolde',
    '',
  ].join('\n');
}

function zsh(tree: CommandNode): string {
  const entry = (name: string, description: string): string =>
    quoted(`${name.replaceAll(':', '\\:')}:${description}`);
  const cases = allCommands(tree).map((node) => {
    const offered = [
      ...node.commands.map((below) => entry(below.path.at(-1)!, below.description)),
      ...node.options.flatMap(({ long, short, description }) =>
        [long, short].flatMap((name) => (name === undefined ? [] : [entry(name, description)])),
      ),
    ];
    return `    ${quoted(pathOf(node))}) offered=(${offered.join(' ')}) ;;`;
  });
  return [
    '#compdef isolde',
    '# Completion of isolde for zsh: eval "$(isolde completion zsh)"',
    '_isolde() {',
    "  local named='' word",
    '  local -a offered',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ...walk(tree, '${words[2,CURRENT-1]}'),
    '  case "$named" in',
    ...cases,
    '  esac',
    "  _describe -o 'isolde' offered || _files",
    '}',
    'compdef _isolde isolde',
    '',
  ].join('\n');
}

function fish(tree: CommandNode): string {
  const escaped = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines: string[] = [];
  for (const node of allCommands(tree)) {
    const seen = node.path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const none = node.commands.map(({ path }) => path.at(-1)!).join(' ');
    const here = none === '' ? seen : [...seen, `not __fish_seen_subcommand_from ${none}`];
    const condition = here.length === 0 ? '' : ` -n ${escaped(here.join('; and '))}`;
    for (const below of node.commands)
      lines.push(`complete -c isolde${condition} -a ${below.path.at(-1)} -d ${escaped(below.description)}`);
    for (const { long, short, description, takesValue, choices } of node.options) {
      const names = `${long === undefined ? '' : ` -l ${long.slice(2)}`}${short === undefined ? '' : ` -s ${short.slice(1)}`}`;
      const values = choices.length === 0 ? '' : ` -a ${escaped(choices.join(' '))}`;
      lines.push(
        `complete -c isolde${condition}${names}${takesValue ? ' -r' : ''}${values} -d ${escaped(description)}`,
      );
    }
  }
  return ['# Completion of isolde for fish: isolde completion fish | source', ...lines, ''].join('\n');
}
