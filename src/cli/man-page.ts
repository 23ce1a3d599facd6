/** The manual page `isolde(1)` as roff, made from the commands themselves. */
import { allCommands, type CommandNode } from './command-tree.js';

export function manPage(tree: CommandNode, version: string): string {
  return [
    `.TH ISOLDE 1 "" ${argument(`isolde ${version}`)} "User Commands"`,
    '.SH NAME',
    `isolde \\- ${text(tree.description)}`,
    '.SH SYNOPSIS',
    '.B isolde',
    '.I command',
    '.RI [ arguments ]',
    '.SH COMMANDS',
    ...allCommands(tree).flatMap(commandLines),
    '.SH EXIT STATUS',
    '0 nothing found, 1 found, 2 undecided, 3 error; each command says more.',
    '.SH ENVIRONMENT',
    ...variables.flatMap(([name, meaning]) => ['.TP', `.B ${text(name)}`, text(meaning)]),
    '.SH FILES',
    '.TP',
    '.B .isolde/',
    'the bugs that hunts have stored, unless --store names another folder'.replaceAll('-', '\\-'),
    '.TP',
    '.B isolde.config.json',
    'targets and options of a project',
    '',
  ].join('\n');
}

const variables: readonly (readonly [string, string])[] = [
  ['ISOLDE_TARGET', 'the URL of the database for commands that are given none'],
  ['ISOLDE_CONFIG', 'the configuration to read instead of isolde.config.json'],
  ['ISOLDE_FETCH', '1: fetch versions of engines that a URL names without asking'],
  ['ISOLDE_DEBUG', '1: show where in the program an unexpected failure happened'],
  ['PGPASSWORD, MYSQL_PWD', 'passwords, instead of in the URL'],
];

function commandLines(node: CommandNode): string[] {
  if (node.path.length === 0) return [];
  const title = `isolde ${node.path.join(' ')}${node.argumentsText === '' ? '' : ` ${node.argumentsText}`}`;
  return [
    `.SS ${argument(title)}`,
    text(node.description),
    ...node.options.flatMap(({ flags, description }) => ['.TP', `.B ${text(flags)}`, text(description)]),
    ...(node.after === '' ? [] : ['.PP', ...node.after.split('\n').map(text)]),
  ];
}

/** A line of text: nothing in it is a request or an escape. */
function text(line: string): string {
  const plain = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll(/\s+/g, ' ');
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}

function argument(line: string): string {
  return `"${text(line).replaceAll('"', '\\(dq')}"`;
}
