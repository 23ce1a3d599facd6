import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findCapabilities } from './capabilities.js';
import { featureGroups, type GroupName } from './features.js';
import { generateCase } from './generate-case.js';
import { parseProfile, profiles } from './profile.js';

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

it('the profile on the page of its format can be read and used', () => {
  const [, json] = /```json\n([\s\S]*?)```/.exec(page('formats/profile.md'))!;
  const profile = parseProfile(json!, 'queue.json');
  const program = generateCase('1', { capabilities: findCapabilities('postgres')!, profile });
  expect(program.name).toBe('queue-1');
  expect(program.sessions).toHaveLength(4);
});

it('the page of the format names the groups whose weights are probabilities', () => {
  const chances = (Object.keys(featureGroups) as GroupName[]).filter(
    (each) => featureGroups[each].draw === 'chance',
  );
  const [, named] = /In the groups ([^.]*?) every option is/.exec(
    page('formats/profile.md').replaceAll('\n', ' '),
  )!;
  expect(named!.match(/\w+(?=`)/g)).toEqual(chances);
});

it('the page of the stage lists every profile with its description', () => {
  const listed = [...page('stages/generate.md').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual(profiles.map(({ name }) => name));
});
