/** The list of bugs, with filters; it follows a hunt while it runs. */
import { useEffect, useState } from 'preact/hooks';
import type { BugLine, BugListPage } from '../src/studio/api.js';
import { useResource } from './api.js';
import { Label, Loading, Time, Unreadable } from './parts.js';
import { linkTo } from './route.js';

interface Filters {
  readonly text: string;
  readonly engine: string;
  readonly level: string;
  readonly label: string;
  readonly known: string;
  readonly ignored: boolean;
}

const everything: Filters = { text: '', engine: '', level: '', label: '', known: '', ignored: false };

/** Filters outlive a look at a bug. */
let kept = everything;

export function Bugs() {
  const list = useResource<BugListPage>('bugs', ['bugs']);
  const [filters, setFilters] = useState(kept);
  const { value } = list;
  useEffect(() => {
    kept = filters;
  }, [filters]);
  useEffect(() => {
    document.title = value === undefined ? 'Isolde studio' : `${value.bugs.length} bugs · Isolde studio`;
  }, [value]);
  if (value === undefined) return <Loading of={list} />;
  const shown = value.bugs.filter((bug) => fits(bug, filters));
  return (
    <>
      <div class="heading">
        <h1>Bugs</h1>
        <p class="quiet" role="status">
          {shown.length === value.bugs.length ? shown.length : `${shown.length} of ${value.bugs.length}`} in{' '}
          <code>{value.place}</code>
        </p>
      </div>
      <Unreadable problems={value.problems} />
      {value.bugs.length > 0 && <FilterBar bugs={value.bugs} filters={filters} change={setFilters} />}
      {value.bugs.length === 0 && <NoBugs />}
      {value.bugs.length > 0 && shown.length === 0 && <p class="quiet">No bug fits these filters.</p>}
      <ul class="bugs">
        {shown.map((bug) => (
          <BugCard key={bug.id} bug={bug} />
        ))}
      </ul>
    </>
  );
}

function NoBugs() {
  return (
    <div class="card empty">
      <p>There are no bugs in this store yet.</p>
      <p>
        A hunt finds some: <code>isolde hunt</code> fills the store, and this list follows it while it runs.
      </p>
    </div>
  );
}

function fits(bug: BugLine, { text, engine, level, label, known, ignored }: Filters): boolean {
  if (bug.ignored && !ignored) return false;
  if (engine !== '' && bug.engine !== engine) return false;
  if (level !== '' && bug.level !== level) return false;
  if (label !== '' && bug.label !== label) return false;
  if (known !== '' && (bug.known?.verdict === 'duplicate') !== (known === 'known')) return false;
  const words = text.toLowerCase().split(/\s+/);
  const hay =
    `${bug.title} ${bug.id} ${bug.version} ${bug.kind} ${bug.clause} ${bug.known?.names ?? ''}`.toLowerCase();
  return words.every((word) => hay.includes(word));
}

interface BarProps {
  readonly bugs: readonly BugLine[];
  readonly filters: Filters;
  readonly change: (filters: Filters) => void;
}

function FilterBar({ bugs, filters, change }: BarProps) {
  const labels = new Map(bugs.map(({ label, labelText }) => [label, labelText]));
  const set = (part: Partial<Filters>) => change({ ...filters, ...part });
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        placeholder="search title, kind, clause, report …"
        aria-label="search"
        value={filters.text}
        onInput={(event) => set({ text: event.currentTarget.value })}
      />
      <Choice
        name="engine"
        value={filters.engine}
        options={unique(bugs, 'engine')}
        change={(engine) => set({ engine })}
      />
      <Choice
        name="level"
        value={filters.level}
        options={unique(bugs, 'level')}
        change={(level) => set({ level })}
      />
      <Choice name="claim" value={filters.label} options={[...labels]} change={(label) => set({ label })} />
      <Choice
        name="known"
        value={filters.known}
        options={[
          ['known', 'known'],
          ['new', 'not known'],
        ]}
        change={(known) => set({ known })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={filters.ignored}
          onChange={(event) => set({ ignored: event.currentTarget.checked })}
        />
        ignored ones
      </label>
    </form>
  );
}

function unique(bugs: readonly BugLine[], of: 'engine' | 'level'): [string, string][] {
  return [...new Set(bugs.map((bug) => bug[of]))].sort().map((each) => [each, each]);
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly change: (value: string) => void;
}

function Choice({ name, value, options, change }: ChoiceProps) {
  return (
    <select aria-label={name} value={value} onChange={(event) => change(event.currentTarget.value)}>
      <option value="">any {name}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

function BugCard({ bug }: { readonly bug: BugLine }) {
  return (
    <li class={bug.ignored ? 'bug ignored' : 'bug'}>
      <a href={linkTo('bug', bug.id)}>{bug.title}</a>
      <p class="facts">
        <Label label={bug.label}>{bug.labelText}</Label>
        <span class="pill">
          {bug.engine} {bug.version}
        </span>
        <span class="pill">{bug.level}</span>
        {bug.kind !== '' && <span class="pill">{bug.kind}</span>}
        {bug.settings !== '' && <span class="pill">{bug.settings}</span>}
        {bug.known !== undefined && bug.known.verdict !== 'unique' && (
          <span class="pill known" title={bug.known.line}>
            {bug.known.verdict === 'duplicate' ? 'known as' : 'perhaps'} {bug.known.names}
          </span>
        )}
        {bug.ignored && <span class="pill">ignored</span>}
        <span class="quiet">
          seen {bug.count}× in {bug.forms === 1 ? 'one form' : `${bug.forms} forms`}, shown in {bug.shown} of{' '}
          {bug.runs} runs, last <Time at={bug.lastSeen} />
        </span>
      </p>
    </li>
  );
}
