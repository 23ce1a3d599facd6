/**
 * `counterexample.json`: a plan that shows a failure, as it was shrunk. It holds statements, checks and faults and no code, so
 * that it can be replayed without the property's file. Whatever reads it trusts nothing in it.
 */
import { type Level, parseLevel } from '../contracts/index.js';
import type { ErrorClass } from '../histories/index.js';
import { checkFormat, type JsonNode, parseJson } from '../json.js';
import { type Dialect, isValue, type Row } from '../sql/index.js';
import { faultKinds } from './fault-kinds.js';
import type { Check, Count, Interaction, Plan } from './interaction.js';

const format = 'isolde-counterexample';
const version = 1;

export interface CounterexampleFile {
  readonly plan: Plan;
  readonly dialect: Dialect;
  readonly level: Level;
  /** What makes a failure this one. */
  readonly identity: string;
  readonly message: string;
}

export function printCounterexample(file: CounterexampleFile): string {
  const { plan, ...rest } = file;
  const { seed, interactions, properties } = plan;
  const named = [...properties].filter(([group]) => interactions.some((each) => each.group === group));
  const data = { format, version, ...rest, seed, properties: named, interactions };
  return `${JSON.stringify(data, (key, value: unknown) => (key === 'holds' ? undefined : value), 1)}\n`;
}

export function parseCounterexample(text: string, name: string): CounterexampleFile {
  const node = parseJson(text, name);
  checkFormat(node, format, version);
  node.object([
    ...['format', 'version', 'dialect', 'level', 'identity', 'message'],
    ...['seed', 'properties', 'interactions'],
  ]);
  const level = node.at('level');
  const properties = node
    .at('properties')
    .items()
    .map((pair) => {
      const [group, property] = pair.items();
      if (group === undefined || property === undefined) return pair.fail('expected a group and a name');
      return [group.count(), property.text()] as const;
    });
  return {
    dialect: node.at('dialect').oneOf(['postgres', 'mysql', 'sqlite', 'duckdb']),
    level: parseLevel(level.text()) ?? level.fail('expected an isolation level'),
    identity: node.at('identity').text(),
    message: node.at('message').text(),
    plan: {
      seed: node.at('seed').text(),
      properties: new Map(properties),
      interactions: node.at('interactions').items().map(readInteraction),
    },
  };
}

function readInteraction(node: JsonNode): Interaction {
  node.object([
    ...['type', 'group', 'optional', 'id', 'session', 'sql', 'mayFail'],
    ...['check', 'anyState', 'says', 'fault'],
  ]);
  const grouped = {
    group: node.at('group').count(),
    ...(node.maybe('optional', isTrue) && { optional: true as const }),
  };
  const type = node.at('type').oneOf(['statement', 'assert', 'assume', 'fault']);
  switch (type) {
    case 'statement':
      return {
        ...{ type, ...grouped, id: node.at('id').count(), session: readSession(node.at('session')) },
        sql: node.at('sql').text(),
        ...(node.maybe('mayFail', isTrue) && { mayFail: true as const }),
      };
    case 'fault':
      return {
        ...{ type, ...grouped, session: readSession(node.at('session')) },
        fault: node.at('fault').oneOf(faultKinds),
      };
    default:
      return {
        ...{ type, ...grouped, check: readCheck(node.at('check')) },
        ...(node.maybe('anyState', isTrue) && { anyState: true as const }),
        says: node.at('says').text(),
      };
  }
}

const isTrue = (node: JsonNode) => (node.value === true ? true : node.fail('expected true'));

/** A plan is run with real connections: nobody needs thousands. */
function readSession(node: JsonNode): number {
  const number = node.count();
  return number < 100 ? number : node.fail('a plan has at most 100 sessions');
}

const checkTypes = [
  'same',
  'contains',
  'lacks',
  'differs',
  'equal',
  'fails',
  'works',
  'one-fails',
  'other-count',
  'predicted',
  'that',
] as const;

function readCheck(node: JsonNode): Check {
  node.object(['type', 'left', 'right', 'result', 'row', 'rows', 'classes', 'results', 'count']);
  const type = node.at('type').oneOf(checkTypes);
  const result = () => node.at('result').count();
  switch (type) {
    case 'same':
      return { type, left: node.at('left').count(), right: node.at('right').count() };
    case 'contains':
    case 'lacks':
      return { type, result: result(), row: readRow(node.at('row')) };
    case 'differs':
      return { type, result: result(), rows: node.at('rows').items().map(readRow) };
    case 'equal':
      return { type, left: readCount(node.at('left')), right: readCount(node.at('right')) };
    case 'fails': {
      const classes = node.maybe('classes', (list) => list.items().map((each) => each.text() as ErrorClass));
      return { type, result: result(), ...(classes && { classes }) };
    }
    case 'works':
    case 'predicted':
      return { type, result: result() };
    case 'other-count':
      return { type, result: result(), count: node.at('count').count() };
    case 'one-fails':
    case 'that': {
      const results = node.at('results').items();
      return { type, results: results.map((each) => each.count()) };
    }
    default:
      return type satisfies never;
  }
}

function readRow(node: JsonNode): Row {
  return node.items().map((each) => (isValue(each.value) ? each.value : each.fail('expected a value')));
}

function readCount(node: JsonNode): Count {
  if (typeof node.value === 'number') return node.count();
  node.object(['rows', 'trues', 'sum']);
  return (
    node.maybe('rows', (each) => ({ rows: each.count() })) ??
    node.maybe('trues', (each) => ({ trues: each.count() })) ?? {
      sum: node.at('sum').items().map(readCount),
    }
  );
}
