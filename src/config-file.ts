/**
 * `isolde.config.json`, what a project says once instead of on every command line:
 *
 *     { "format": "isolde-config", "version": 1,
 *       "target": "staging",
 *       "targets": { "staging": "postgres://tester@db.example/scratch" },
 *       "options": { "*": { "store": "bugs" }, "hunt": { "for": "10m", "only-new": true }, "bugs rerun": { "runs": 5 } } }
 *
 * An option of the command line goes before the same option here; one that may be repeated adds to it. Data, not a program:
 * reading it runs nothing. A file that was merely found in the folder may have come with a stranger's project, so it cannot
 * make Isolde start or fetch programs, trust cases, ask a model, or write outside the folder; one that ISOLDE_CONFIG names can.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { errorText, IsoldeError } from './errors.js';
import { checkFormat, type JsonNode, parseJson } from './json.js';

export const configFileName = 'isolde.config.json';

export interface ConfigPlace {
  readonly file: string;
  /** Whoever started the program named it. */
  readonly named: boolean;
}

export interface Config {
  /** The database for commands that are given none. */
  readonly target: string | undefined;
  /** Names for URLs. */
  readonly targets: ReadonlyMap<string, string>;
  readonly options: readonly ConfiguredOption[];
}

interface ConfiguredOption {
  /** Whether the file was named: see above. */
  readonly trusted: boolean;
  /** `hunt`, `bugs rerun`; `*`: every command that has the option. */
  readonly command: string;
  readonly name: string;
  readonly value: JsonNode;
}

/** Where the configuration is: the file the environment names, or the one in this folder, if there is one. */
export function configPlace(env: Readonly<Record<string, string | undefined>>): ConfigPlace | undefined {
  const { ISOLDE_CONFIG: named = '' } = env;
  if (named !== '') return { file: named, named: true };
  return existsSync(configFileName) ? { file: configFileName, named: false } : undefined;
}

export function readConfig({ file, named }: ConfigPlace): Config {
  const node = parseJson(readText(file), file);
  checkFormat(node, 'isolde-config', 1);
  node.object(['format', 'version', 'target', 'targets', 'options']);
  const targets = new Map<string, string>();
  node.maybe('targets', (each) => {
    for (const name of each.members()) {
      if (!/^[a-z][\w-]*$/i.test(name))
        each.at(name).fail('names of targets are letters, digits, - and _, so that none looks like a URL');
      targets.set(name, urlOf(each.at(name), named));
    }
  });
  const options: ConfiguredOption[] = [];
  node.maybe('options', (each) => {
    for (const command of each.members()) {
      const ofCommand = each.at(command);
      for (const name of ofCommand.members()) {
        const value = ofCommand.at(name);
        if (!named && !harmlessOptions.has(name))
          value.fail(`a file that was merely found cannot set it; ${nameIt}`);
        if (name === 'target' || name === 'targets') for (const url of asItems(value)) urlOf(url, named);
        options.push({ command, name, value, trusted: named });
      }
    }
  });
  return { target: node.maybe('target', (each) => urlOf(each, named)), targets, options };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
}

const asItems = (node: JsonNode): readonly JsonNode[] => (Array.isArray(node.value) ? node.items() : [node]);

const nameIt = 'name the file by ISOLDE_CONFIG';
/** Options a file may set that was merely found: they choose what is looked for and how long, and places inside the folder. */
const harmlessOptions: ReadonlySet<string> = new Set(
  [
    'for rounds bugs seed jobs runs level levels contract profile oracle ignore fail-on only-new reuse restart',
    'target targets versions settings store known junit summary json explain strategy mode format anomalies',
    'budget memory strongest statement-timeout lock-timeout keep-unconfirmed markdown',
  ].flatMap((line) => line.split(' ')),
);
/** Parameters of URLs that choose how an engine runs, not which program is started or loaded. */
const harmlessParameters: ReadonlySet<string> = new Set([
  'mode',
  'mvcc',
  'journal',
  'engine',
  'process',
  'sslmode',
]);

function urlOf(node: JsonNode, named: boolean): string {
  const url = node.text();
  if (named) return url;
  const [, query = ''] = url.split('?', 2);
  const parameters = query === '' ? [] : query.split('&').map((each) => each.split('=')[0]!);
  const starts =
    /^(?:exec|jdbc|faulty|faults)\b/i.test(url) || parameters.some((name) => !harmlessParameters.has(name));
  if (starts) node.fail(`a file that was merely found cannot name programs or files to load; ${nameIt}`);
  return url;
}

/** Every URL in it, for the filter that hides their passwords. */
export function urlsOf({ target, targets, options }: Config): string[] {
  const given = options.flatMap(({ value }) => asItems(value).map((each) => String(each.value)));
  return [...(target === undefined ? [] : [target]), ...targets.values(), ...given];
}

/** The URL a name stands for; what is no name stays as it is. */
export function targetNamed({ targets }: Config, url: string): string {
  return targets.get(url) ?? url;
}

/** Gives the loaded commands the options of the configuration, and makes them understand names of targets. */
export function applyConfig(program: Command, config: Config, known: readonly string[]): void {
  for (const configured of config.options) {
    const { command, name, value } = configured;
    const [first = ''] = command.split(' ');
    if (command !== '*' && !known.includes(first)) value.fail(`there is no command "${command}"`);
    const commands = everyCommand(program).filter(([path]) => command === '*' || path === command);
    // Only the command that was asked for is loaded.
    const isLoaded = program.commands.some((each) => each.name() === first);
    if (command !== '*' && isLoaded && commands.length === 0) value.fail(`there is no command "${command}"`);
    for (const [path, each] of commands) {
      const option = each.options.find(({ long }) => long === `--${name}` || long === `--no-${name}`);
      if (option !== undefined) setOption(each, option, configured);
      else if (command !== '*') value.fail(`"isolde ${path}" has no option --${name}`);
    }
  }
  for (const [, command] of everyCommand(program)) nameTargets(command, config);
}

function everyCommand(command: Command, path = ''): (readonly [string, Command])[] {
  return command.commands.flatMap((below): (readonly [string, Command])[] => {
    const itsPath = path === '' ? below.name() : `${path} ${below.name()}`;
    return [[itsPath, below], ...everyCommand(below, itsPath)];
  });
}

function setOption(command: Command, option: Option, { value: node, trusted }: ConfiguredOption): void {
  const takesValue = option.required || option.optional;
  if (!takesValue) {
    if (typeof node.value !== 'boolean') node.fail('expected true or false');
    command.setOptionValueWithSource(option.attributeName(), node.value, 'config');
    return;
  }
  for (const each of asItems(node)) {
    if (typeof each.value !== 'string' && typeof each.value !== 'number')
      each.fail('expected a text or a number');
    const text = String(each.value);
    if (!trusted && isPath(option) && leavesFolder(text))
      each.fail(`a file that was merely found cannot name places outside its folder; ${nameIt}`);
    const before =
      command.getOptionValueSource(option.attributeName()) === 'config'
        ? command.getOptionValue(option.attributeName())
        : undefined;
    let value: unknown = text;
    try {
      if (option.parseArg !== undefined) value = option.parseArg(text, before);
    } catch (error) {
      each.fail(errorText(error));
    }
    command.setOptionValueWithSource(option.attributeName(), value, 'config');
  }
}

const isPath = ({ flags }: Option): boolean => /<(?:file|folder|place)\b/.test(flags);
const leavesFolder = (text: string): boolean =>
  /^[/\\~]|^\w+:/.test(text) || text.split(/[/\\]/).includes('..');

/** Replaces names of targets where a command takes URLs. */
function nameTargets(command: Command, config: Config): void {
  const place = command.registeredArguments.findIndex((argument) => argument.name() === 'url');
  command.hook('preAction', (_, action) => {
    if (action !== command) return;
    const given = action.opts<Readonly<Record<string, unknown>>>();
    for (const option of ['target', 'targets']) {
      const value = given[option];
      if (typeof value === 'string') action.setOptionValue(option, targetNamed(config, value));
      else if (Array.isArray(value))
        action.setOptionValue(
          option,
          value.map((url) => targetNamed(config, String(url))),
        );
    }
    const url = place < 0 ? undefined : action.processedArgs[place];
    if (typeof url === 'string') action.processedArgs[place] = targetNamed(config, url);
  });
}
