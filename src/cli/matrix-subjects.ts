/** What `isolde matrix` is given: bugs of the store, known bugs, files, folders of files. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { openKnown, type Repository } from '../known/index.js';
import { bugSubject, caseOf, fileSubject, knownSubject, type Subject } from '../matrix/index.js';
import { homeUrl } from '../report/index.js';
import { type BugStore, openBugStore } from '../store/index.js';
import { declarationOfScheme, defaultTargetUrl, targetDeclarations } from '../targets/index.js';
import type { CliContext } from './context.js';
import { requireStore } from './existing-store.js';
import { readPlain } from './known-command.js';

export interface SubjectPlaces {
  readonly store: string;
  readonly known: string;
}

/** Every case that is meant by the words of a command line; none: all bugs of the store. */
export async function readSubjects(
  words: readonly string[],
  places: SubjectPlaces,
  context: CliContext,
): Promise<Subject[]> {
  // Files and known bugs need no store.
  if (words.length === 0) requireStore(places.store);
  const store = await openBugStore(places.store);
  try {
    const found = words.length === 0 ? await bugsOf(store, context) : [];
    for (const word of words)
      found.push(...(await subjectsOf(word, { store, place: places.store, known: places.known, context })));
    const unique = new Map(found.map((subject) => [subject.id, subject]));
    if (unique.size > 0) return [...unique.values()];
    throw new IsoldeError('usage', `there is nothing to run: no bugs in ${store.place}`);
  } finally {
    await store.close();
  }
}

interface Looking {
  readonly store: BugStore;
  readonly place: string;
  readonly known: string;
  readonly context: CliContext;
}

async function subjectsOf(word: string, looking: Looking): Promise<Subject[]> {
  // The word comes before a folder of that name, as this project has one; `./known` is the folder.
  const about = word === 'known' ? undefined : await stat(word).catch(() => undefined);
  if (about?.isDirectory() === true) return folderSubjects(word, looking.context);
  if (about !== undefined) return [fileSubject(await readPlain(word), word)];
  const repository = await openKnown({ own: looking.known });
  for (const problem of repository.problems) looking.context.err(`isolde: ${problem}`);
  if (word === 'known') return repository.bugs.flatMap((bug) => knownSubject(bug) ?? []);
  const known = knownCase(word, repository);
  if (known !== undefined) return [known];
  requireStore(looking.place);
  return [bugSubject(await looking.store.get(word))];
}

function knownCase(word: string, { bugs }: Repository): Subject | undefined {
  const bug = bugs.find(({ id, name }) => id === word || name.toLowerCase() === word.toLowerCase());
  if (bug === undefined) return undefined;
  const subject = knownSubject(bug);
  if (subject !== undefined) return subject;
  throw new IsoldeError('usage', `the known bug ${bug.id} has no case that could be run`);
}

/** A store, or a folder of scripts and cases. */
async function folderSubjects(folder: string, context: CliContext): Promise<Subject[]> {
  const names = (await readdir(folder)).sort();
  if (names.includes('store.json')) {
    const store = await openBugStore(folder);
    return bugsOf(store, context).finally(() => store.close());
  }
  const subjects: Subject[] = [];
  for (const name of names.filter((each) => /\.(sql|case\.json)$/.test(each))) {
    try {
      subjects.push(fileSubject(await readPlain(join(folder, name)), join(folder, name)));
    } catch (error) {
      if (!(error instanceof IsoldeError)) throw error;
      context.err(`isolde: ${errorText(error)}`);
    }
  }
  if (subjects.length === 0)
    throw new IsoldeError('usage', `${folder} holds no store, and no *.sql or *.case.json`);
  return subjects;
}

async function bugsOf(store: BugStore, context: CliContext): Promise<Subject[]> {
  const { bugs, problems } = await store.list();
  for (const problem of problems) context.err(`isolde: ${problem}`);
  const found: Subject[] = [];
  for (const { id } of bugs) {
    try {
      found.push(bugSubject(await store.get(id)));
    } catch (error) {
      if (!(error instanceof IsoldeError) || error.code !== 'bad-file') throw error;
      context.err(`isolde: ${error.message}`);
    }
  }
  return found;
}

/** Where cases are tried when nobody says where: each on an embedded or private engine of its own kind. */
export function homesOf(subjects: readonly Subject[], context: CliContext): string[] {
  const homes = subjects.map((subject) => {
    if (subject.kind === 'bug') return homeUrl(subject.bug) ?? context.defaultTarget;
    if (context.defaultTarget !== undefined) return context.defaultTarget;
    const { dialect } = caseOf(subject).case;
    const named =
      declarationOfScheme(subject.id.split('-')[0] ?? '') ??
      targetDeclarations.find((each) => each.dialect === dialect);
    return named?.privateUrl?.({}) ?? defaultTargetUrl;
  });
  return [...new Set(homes.filter((url) => url !== undefined))];
}
