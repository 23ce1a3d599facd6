/** A recorded history, however long: a timeline to move along, filters, findings to jump to, and each operation in full. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type {
  FindingMark,
  HistoryChoice,
  HistoryChoices,
  HistoryPage,
  OpenHistoryPage,
  OperationPage,
} from '../src/studio/api.js';
import { get, post, useNews, useResource } from './api.js';
import type { HistoryView } from './history-view.js';
import { Failure, Loading, Section, Unreadable } from './parts.js';
import { linkTo, type Route } from './route.js';
import { Sql } from './sql.js';
import { placeText } from './timeline.js';
import { type Settled, TimelineCanvas } from './timeline-canvas.js';

export function History({ route }: { readonly route: Route }) {
  useEffect(() => {
    document.title = 'History · Isolde studio';
  }, []);
  return route.id === '' ? <Choices /> : <Chosen id={route.id} key={route.id} />;
}

function Choices() {
  const choices = useResource<HistoryChoices>('histories', ['bugs']);
  if (choices.value === undefined) return <Loading of={choices} />;
  const { files, bugs, problems } = choices.value;
  return (
    <>
      <h1>History</h1>
      <p>
        Opens a recorded run of any length. Files are given when the studio starts:{' '}
        <code>isolde studio --history FILE</code>, of any format that <code>isolde check</code> reads.
      </p>
      <ChoiceList title="Files" list={files} none="No file was given." />
      <ChoiceList title="Runs of bugs" list={bugs} none="The store has no bugs." />
      <Unreadable problems={problems} />
    </>
  );
}

function ChoiceList({
  title,
  list,
  none,
}: {
  readonly title: string;
  readonly list: readonly HistoryChoice[];
  readonly none: string;
}) {
  return (
    <Section title={title}>
      {list.length === 0 && <p class="quiet">{none}</p>}
      <ul class="choices">
        {list.map(({ id, title: text }) => (
          <li key={id}>
            <a href={linkTo('history', id)}>{text}</a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Chosen({ id }: { readonly id: string }) {
  const path = `histories/${encodeURIComponent(id)}`;
  const resource = useResource<HistoryPage>(path);
  useNews(
    useCallback((news) => (news.kind === 'history' && news.id === id ? resource.reload() : undefined), [id]),
  );
  const { value } = resource;
  if (value === undefined) return <Loading of={resource} />;
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('history')}>History</a> / {value.title}
      </p>
      {value.state === 'reading' && (
        <p role="status">reading … {value.operations.toLocaleString('en')} operations so far</p>
      )}
      {value.state === 'failed' && <Failure text={value.failure} />}
      {value.state === 'open' && <Opened path={path} page={value} set={resource.set} />}
    </>
  );
}

interface Filters {
  readonly session: string;
  readonly transaction: string;
  readonly object: string;
  readonly text: string;
  readonly failed: boolean;
}

const everything: Filters = { session: '', transaction: '', object: '', text: '', failed: false };

/** The filters as a server reads them, behind other parts of a query. */
function queryOf({ failed, ...texts }: Filters): string {
  const parts = Object.entries(texts).filter(([, text]) => text !== '');
  const query = parts.map(([name, text]) => `&${name}=${encodeURIComponent(text)}`).join('');
  return failed ? `${query}&failed=1` : query;
}

function Opened({
  path,
  page,
  set,
}: {
  readonly path: string;
  readonly page: OpenHistoryPage;
  readonly set: (page: HistoryPage) => void;
}) {
  const [filters, setFilters] = useState(everything);
  const [settled, setSettled] = useState<Settled>();
  const view = useRef<HistoryView | undefined>(undefined);
  const filter = queryOf(filters);
  const { check } = page;
  const marks = check.state === 'done' ? check.findings : noMarks;
  const moves = useMoves({ path, filter, marks, view });
  const { selected, finding, select, jump, message, setMessage } = moves;
  const lit = useMemo(
    () => new Set(finding === undefined ? [] : marks[finding]?.operations),
    [finding, marks],
  );
  return (
    <>
      <Summary page={page} settled={settled} />
      <FilterBar page={page} path={path} filters={filters} set={setFilters} />
      <TimelineButtons view={view} page={page} step={moves.step} />
      <TimelineCanvas
        {...{ path, filter, page, marks, lit }}
        onKey={moves.onKey}
        selected={selected?.index}
        handle={(handle) => {
          view.current = handle.view;
        }}
        select={select}
        settle={setSettled}
      />
      <Failure text={message === '' ? undefined : message} />
      <div class="history-below">
        <div>
          {selected !== undefined && (
            <Operation
              operation={selected}
              page={page}
              only={(some) => setFilters({ ...everything, ...some })}
            />
          )}
          <InView
            settled={settled}
            page={page}
            select={(index) => select(index)}
            selected={selected?.index}
          />
        </div>
        <Findings
          page={page}
          marks={marks}
          current={finding}
          jump={jump}
          check={() => {
            setMessage('');
            post<HistoryPage>(`${path}/check`, {}).then(set, (error: Error) => setMessage(error.message));
          }}
        />
      </div>
    </>
  );
}

/** How much there is, and what of it is in view. */
function Summary({
  page,
  settled,
}: {
  readonly page: OpenHistoryPage;
  readonly settled: Settled | undefined;
}) {
  return (
    <>
      <h1 class="visually-hidden">History</h1>
      <p class="quiet" role="status">
        {page.operations.toLocaleString('en')} operations, {page.transactions.toLocaleString('en')}{' '}
        transactions, {page.sessions.length} sessions
        {settled === undefined ? '' : `; in view: ${rangeText(settled, page)}`}
      </p>
      {page.notes.map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
    </>
  );
}

type ViewRef = { readonly current: HistoryView | undefined };

interface MovesProps {
  readonly path: string;
  /** Of the filters, for steps from operation to operation. */
  readonly filter: string;
  readonly marks: readonly FindingMark[];
  readonly view: ViewRef;
}

/** What is selected, and the ways to something else: by number, to the next operation, to the next finding, by keys. */
function useMoves({ path, filter, marks, view }: MovesProps) {
  const [selected, setSelected] = useState<OperationPage>();
  const [finding, setFinding] = useState<number>();
  const [message, setMessage] = useState('');
  const show = (operation: OperationPage, move: boolean) => {
    setSelected(operation);
    if (move) view.current?.reveal(operation.start, operation.end, operation.session);
  };
  const select = (index: number, move = false) => {
    get<OperationPage>(`${path}/operations/${index}`).then(
      (operation) => show(operation, move),
      (error: Error) => setMessage(error.message),
    );
  };
  const step = (backwards: boolean) => {
    const from = selected === undefined ? '' : `&from=${selected.index}`;
    get<{ readonly operation?: OperationPage }>(
      `${path}/next?backwards=${backwards ? 1 : 0}${from}${filter}`,
    ).then(
      ({ operation }) =>
        operation === undefined ? setMessage('there is no further operation') : show(operation, true),
      (error: Error) => setMessage(error.message),
    );
  };
  const jump = (to: number) => {
    if (marks.length === 0) return;
    const at = (to + marks.length) % marks.length;
    setFinding(at);
    const first = marks[at]!.operations[0];
    if (first !== undefined) select(first, true);
  };
  const onKey = (key: string): boolean => {
    if (key === 'n') jump((finding ?? -1) + 1);
    else if (key === 'p') jump((finding ?? marks.length) - 1);
    else if (key === '.') step(false);
    else if (key === ',') step(true);
    else return false;
    return true;
  };
  return { selected, finding, message, setMessage, select, step, jump, onKey };
}

function TimelineButtons({
  view,
  page,
  step,
}: {
  readonly view: ViewRef;
  readonly page: OpenHistoryPage;
  readonly step: (backwards: boolean) => void;
}) {
  return (
    <div class="timeline-buttons">
      <button type="button" onClick={() => view.current?.zoom(2)}>
        Zoom in
      </button>
      <button type="button" onClick={() => view.current?.zoom(0.5)}>
        Zoom out
      </button>
      <button type="button" onClick={() => view.current?.show(page.span.from, page.span.to)}>
        All
      </button>
      <button type="button" onClick={() => step(true)}>
        Previous operation
      </button>
      <button type="button" onClick={() => step(false)}>
        Next operation
      </button>
    </div>
  );
}

const noMarks: readonly FindingMark[] = [];

function rangeText({ view }: Settled, { timed }: OpenHistoryPage): string {
  const size = view.to - view.from;
  const step = Math.max(size / 100, 0.01);
  return `${placeText(view.from, timed, step, size)} to ${placeText(view.to, timed, step, size)}`;
}

/** A text that filters when it is done (Enter, or another field). What is being typed is kept here: suggestions that arrive must not undo it. */
function TextFilter({
  label,
  value,
  set,
  list,
  typed,
}: {
  readonly label: string;
  readonly value: string;
  readonly set: (text: string) => void;
  readonly list?: string;
  readonly typed?: (text: string) => void;
}) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return (
    <label class="check">
      {label}{' '}
      <input
        type="text"
        size={12}
        value={draft}
        {...(list === undefined ? {} : { list })}
        onFocus={() => typed?.(draft)}
        onInput={({ currentTarget }) => {
          setDraft(currentTarget.value);
          typed?.(currentTarget.value);
        }}
        onChange={({ currentTarget }) => set(currentTarget.value.trim())}
      />
    </label>
  );
}

function FilterBar({
  page,
  path,
  filters,
  set,
}: {
  readonly page: OpenHistoryPage;
  readonly path: string;
  readonly filters: Filters;
  readonly set: (filters: Filters) => void;
}) {
  const [objects, setObjects] = useState<readonly string[]>([]);
  const suggest = (like: string) => {
    get<readonly string[]>(`${path}/objects?like=${encodeURIComponent(like)}`).then(
      setObjects,
      () => undefined,
    );
  };
  const field = (name: 'transaction' | 'object' | 'text') => ({
    value: filters[name],
    set: (text: string) => set({ ...filters, [name]: text }),
  });
  return (
    <form class="filters" aria-label="filters" onSubmit={(event) => event.preventDefault()}>
      <select
        aria-label="session"
        value={filters.session}
        onChange={(event) => set({ ...filters, session: event.currentTarget.value })}
      >
        <option value="">all sessions</option>
        {page.sessions.slice(0, 2000).map((name, i) => (
          <option key={i} value={String(i)}>
            {name}
          </option>
        ))}
      </select>
      <TextFilter label="row or key" list="history-objects" typed={suggest} {...field('object')} />
      <datalist id="history-objects">
        {objects.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <TextFilter label="transaction" {...field('transaction')} />
      <TextFilter label="contains" {...field('text')} />
      <label class="check">
        <input
          type="checkbox"
          checked={filters.failed}
          onChange={(event) => set({ ...filters, failed: event.currentTarget.checked })}
        />
        failed only
      </label>
      <button type="button" onClick={() => set(everything)} disabled={queryOf(filters) === ''}>
        Clear
      </button>
    </form>
  );
}

function Operation({
  operation,
  page,
  only,
}: {
  readonly operation: OperationPage;
  readonly page: OpenHistoryPage;
  readonly only: (filters: Partial<Filters>) => void;
}) {
  const { index, session, transaction, statement, result, start, end, flags, objects } = operation;
  const said = [
    (flags & 1) !== 0 && 'failed',
    (flags & 2) !== 0 && 'its effect is unknown',
    (flags & 4) !== 0 && 'commits',
    (flags & 8) !== 0 && 'ends in a rollback',
    (flags & 16) !== 0 && 'had to wait',
    (flags & 32) !== 0 && 'was never answered',
  ].filter((text) => text !== false);
  return (
    <section class="card" aria-label="operation">
      <h2>
        Operation {index} <small class="quiet">{said.join(', ')}</small>
      </h2>
      <pre class="code" tabIndex={0}>
        <Sql text={statement} />
      </pre>
      {result !== '' && <p class="result">{result}</p>}
      <p class="quiet">
        {page.timed
          ? `begins at ${placeText(start, true, 1, Math.max(1, start))}, takes ${placeText(end - start, true, Math.max(0.1, (end - start) / 100), Math.max(1, end - start))}`
          : `position ${Math.round(start)}`}
      </p>
      <p class="only">
        Show only{' '}
        <button type="button" onClick={() => only({ session: String(session) })}>
          session {page.sessions[session]}
        </button>{' '}
        <button type="button" onClick={() => only({ transaction })}>
          transaction {transaction}
        </button>{' '}
        {objects.slice(0, 8).map((name) => (
          <button key={name} type="button" onClick={() => only({ object: name })}>
            {name}
          </button>
        ))}
      </p>
    </section>
  );
}

const mostListed = 100;

function InView({
  settled,
  page,
  select,
  selected,
}: {
  readonly settled: Settled | undefined;
  readonly page: OpenHistoryPage;
  readonly select: (index: number) => void;
  readonly selected: number | undefined;
}) {
  const operations = settled?.operations;
  if (settled === undefined) return null;
  if (operations === undefined)
    return <p class="quiet">Zoom in to see single operations: too many are in view.</p>;
  const size = settled.view.to - settled.view.from;
  return (
    <Section title="Operations in view">
      {operations.length === 0 && <p class="quiet">None.</p>}
      {operations.length > mostListed && (
        <p class="quiet">
          The first {mostListed} of {operations.length}.
        </p>
      )}
      <ol class="in-view">
        {operations.slice(0, mostListed).map(([index, session, start, , flags, label]) => (
          <li key={index}>
            <button
              type="button"
              aria-current={index === selected ? 'true' : undefined}
              onClick={() => select(index)}
            >
              <span class="quiet">{placeText(start, page.timed, Math.max(0.1, size / 1000), size)}</span>{' '}
              <b class={`tx s${session % 6}`}>{page.sessions[session]}</b>{' '}
              <span class={(flags & 1) !== 0 ? 'failed-text' : ''}>{label}</span>
            </button>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Findings({
  page: { check },
  marks,
  current,
  jump,
  check: start,
}: {
  readonly page: OpenHistoryPage;
  readonly marks: readonly FindingMark[];
  readonly current: number | undefined;
  readonly jump: (to: number) => void;
  readonly check: () => void;
}) {
  return (
    <Section title="Findings">
      {check.state === 'none' && <p class="quiet">This history is not checked from here.</p>}
      {(check.state === 'possible' || check.state === 'failed') && (
        <button type="button" onClick={start}>
          Check it
        </button>
      )}
      {check.state === 'checking' && <p role="status">checking …</p>}
      {check.state === 'failed' && <Failure text={check.failure} />}
      {check.state === 'done' && (
        <>
          <p role="status">
            {check.valid === true
              ? 'Nothing is wrong in it.'
              : marks.length > 0
                ? `${marks.length}${check.more > 0 ? ` of ${marks.length + check.more}` : ''} ${marks.length + check.more === 1 ? 'finding' : 'findings'}`
                : 'It could not be decided.'}
          </p>
          {check.reasons.map((reason) => (
            <p key={reason} class="quiet">
              not decided: {reason}
            </p>
          ))}
        </>
      )}
      <ol class="marks">
        {marks.map(({ kind, clause, argument }, i) => (
          <li key={i}>
            <button type="button" aria-current={i === current ? 'true' : undefined} onClick={() => jump(i)}>
              {kind} <small class="quiet">{clause}</small>
            </button>
            {i === current && <p class="mark-argument">{argument}</p>}
          </li>
        ))}
      </ol>
    </Section>
  );
}
