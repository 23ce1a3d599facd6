/** Shrinking together: switch lines off, rewrite and move them, try, undo, and let the shrinker go on from anywhere. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ShrinkPage, ShrinkTreeNode } from '../src/studio/api.js';
import { get, type Heard, post, useNews } from './api.js';
import { Failure } from './parts.js';
import { linkTo, type Route } from './route.js';
import { RunView } from './run-view.js';
import { Sql } from './sql.js';

/** `#/shrink/ID` is a session; `#/shrink?bug=ID` starts one. */
export function Shrink({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const bug = query.get('bug');
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    if (id !== '' || bug === null) return;
    post<ShrinkPage>('shrink', { bug }).then(
      (page) => location.replace(linkTo('shrink', page.id)),
      (error: Error) => setFailure(error.message),
    );
  }, [id, bug]);
  if (failure !== undefined) return <Failure text={failure} />;
  if (id !== '') return <Session id={id} />;
  return bug === null ? (
    <p>Shrinking starts at a bug, or with a case of the playground that shows something.</p>
  ) : (
    <p class="quiet">opening the database and running the case …</p>
  );
}

function Session({ id }: { readonly id: string }) {
  const { page, failure, act, path } = useSession(id);
  useEffect(() => {
    document.title = 'Shrink together · Isolde studio';
  }, []);
  if (page === undefined)
    return failure === undefined ? <p class="quiet">loading …</p> : <Failure text={failure} />;
  const node = page.tree[page.current]!;
  const busy = page.working !== undefined;
  return (
    <>
      <h1>Shrink together</h1>
      <p class="quiet">
        Keeping “{page.finding}” on {page.target}. Every change is kept; a trial decides.
      </p>
      <Failure text={failure ?? page.failure} />
      <div class="shrink">
        <section class="card" aria-label="the case">
          <Toolbar page={page} path={path} act={act} />
          <p class={`trial trial-${node.verdict ?? 'open'}`} role="status">
            {page.working ?? node.says ?? 'not tried yet'}
          </p>
          <Lines page={page} busy={busy} path={path} change={(body) => act('change', body)} />
          <p class="quiet legend">
            <b>named</b>: the finding is about it; <b>needed</b>: what the finding is about was made from it;
            others may go. Hints are from the last run that showed it.
          </p>
        </section>
        <section class="card" aria-label="states">
          <h2>States</h2>
          <Tree page={page} go={(to) => act('go', { to })} busy={busy} />
        </section>
      </div>
      {page.run !== undefined && (
        <>
          <h2>The last run of this state</h2>
          <RunView
            key={`${page.current}`}
            run={page.run}
            setup={page.setup.filter(({ off }) => !off).map(({ sql }) => sql)}
          />
        </>
      )}
    </>
  );
}

type Act = (what: string, body?: unknown) => void;

/** A session as the server knows it, and how to change it. */
function useSession(id: string) {
  const [page, setPage] = useState<ShrinkPage>();
  const [failure, setFailure] = useState<string>();
  const ask = useCallback((asked: Promise<ShrinkPage>) => {
    setFailure(undefined);
    asked.then(setPage, (error: Error) => setFailure(error.message));
  }, []);
  const last = useRef(Promise.resolve());
  const path = `shrink/${encodeURIComponent(id)}`;
  useEffect(() => ask(get<ShrinkPage>(path)), [path, ask]);
  useNews(
    useCallback(
      (heard: Heard) => {
        if (heard.kind === 'connected' || (heard.kind === 'shrink' && heard.id === id))
          get<ShrinkPage>(path).then(setPage, () => undefined);
      },
      [id, path],
    ),
  );
  const act: Act = (what, body = {}) => {
    const send = () => post<ShrinkPage>(`${path}/${what}`, body);
    // One after another, so that two quick clicks do what they say; only a stop overtakes.
    const sent = what === 'stop' ? send() : last.current.then(send);
    if (what !== 'stop') last.current = sent.then(nothing, nothing);
    ask(sent);
  };
  return { page, failure, act, path };
}

function Toolbar({
  page,
  path,
  act,
}: {
  readonly page: ShrinkPage;
  readonly path: string;
  readonly act: Act;
}) {
  const node = page.tree[page.current]!;
  const busy = page.working !== undefined;
  return (
    <div class="toolbar" role="toolbar" aria-label="shrinking">
      <button type="button" class="primary" disabled={busy} onClick={() => act('try')}>
        Try
      </button>
      <button type="button" disabled={busy} onClick={() => act('auto')}>
        Shrink automatically
      </button>
      {busy && (
        <button type="button" onClick={() => act('stop')}>
          Stop
        </button>
      )}
      <button
        type="button"
        disabled={busy || node.parent === undefined}
        onClick={() => act('go', { to: node.parent })}
      >
        Undo
      </button>
      <button
        type="button"
        disabled={busy || redoOf(page) === undefined}
        onClick={() => act('go', { to: redoOf(page) })}
      >
        Redo
      </button>
      <a class="button" href={`api/${path}/case.sql`} download="case.sql">
        Save
      </a>
    </div>
  );
}

const nothing = () => undefined;

function redoOf({ tree, current }: ShrinkPage): number | undefined {
  return tree.findLast(({ parent }) => parent === current)?.id;
}

interface LinesProps {
  readonly page: ShrinkPage;
  readonly busy: boolean;
  readonly path: string;
  readonly change: (body: Readonly<Record<string, unknown>>) => void;
}

interface Edited {
  readonly of: Part;
  readonly at: number;
  readonly sql: string;
}

type Part = 'setup' | 'lines';

function Lines({ page, busy, path, change }: LinesProps) {
  const [editing, setEditing] = useState<Edited>();
  const [dragged, setDragged] = useState<number>();
  /** The exact text: what is shown may be cut, with hidden characters made visible. */
  const edit = (of: Part, at: number) => {
    get<Record<Part, string[]>>(`${path}/texts`).then(
      (texts) => setEditing({ of, at, sql: texts[of][at] ?? '' }),
      () => undefined,
    );
  };
  const save = () => {
    if (editing !== undefined) change({ kind: 'edit', at: editing.at, of: editing.of, sql: editing.sql });
    setEditing(undefined);
  };
  const line = (of: Part, at: number, shown: LineShown) => {
    const { session, off } = shown;
    const isEdited = editing?.of === of && editing.at === at;
    return (
      <li
        key={`${of} ${at}`}
        class={`line${off ? ' off' : ''}${session === undefined ? '' : ` s${session % 6}`}`}
        draggable={of === 'lines' && !busy && editing === undefined}
        onDragStart={() => setDragged(at)}
        onDragOver={(event) => {
          if (of === 'lines' && dragged !== undefined) event.preventDefault();
        }}
        onDrop={() => {
          if (of === 'lines' && dragged !== undefined && dragged !== at)
            change({ kind: 'move', at: dragged, to: at });
          setDragged(undefined);
        }}
      >
        <Line
          {...{ of, at, shown, page, busy, change, save }}
          edited={isEdited ? editing : undefined}
          edit={() => edit(of, at)}
          set={setEditing}
        />
      </li>
    );
  };
  return (
    <ol class="lines">
      {page.setup.map((each, at) => line('setup', at, each))}
      {page.lines.map((each, at) => line('lines', at, each))}
    </ol>
  );
}

interface LineProps extends Omit<LinesProps, 'path'> {
  readonly of: Part;
  readonly at: number;
  readonly shown: LineShown;
  /** Its text while it is rewritten. */
  readonly edited: Edited | undefined;
  readonly edit: () => void;
  readonly set: (edited: Edited | undefined) => void;
  readonly save: () => void;
}

function Line(props: LineProps) {
  const { of, at, shown, edited, page, busy, change, set, save } = props;
  const { sql, off, session, hint } = shown;
  const name = nameOf(props);
  return (
    <>
      <input
        type="checkbox"
        checked={!off}
        disabled={busy}
        aria-label={`${name} is sent`}
        onChange={() => change({ kind: off ? 'on' : 'off', at, of })}
      />
      <span class="line-session">{session === undefined ? 'set-up' : page.sessions[session]}</span>
      {edited === undefined ? (
        <Sql text={sql} />
      ) : (
        <textarea
          aria-label={`text of ${name}`}
          rows={Math.min(8, edited.sql.split('\n').length + 1)}
          value={edited.sql}
          ref={(element) => element?.focus()}
          onInput={(event) => set({ ...edited, sql: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') set(undefined);
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
          }}
        />
      )}
      {hint !== undefined && hint !== 'free' && !off && <span class={`pill hint-${hint}`}>{hint}</span>}
      <span class="line-buttons">
        {edited === undefined ? (
          <LineButtons {...props} />
        ) : (
          <>
            <button type="button" class="primary" onClick={save}>
              OK
            </button>
            <button type="button" onClick={() => set(undefined)}>
              Cancel
            </button>
          </>
        )}
      </span>
    </>
  );
}

const nameOf = ({ of, at }: Pick<LineProps, 'of' | 'at'>): string =>
  `${of === 'setup' ? 'set-up line' : 'line'} ${at + 1}`;

/** What can be done with a line that is not being rewritten. */
function LineButtons({ of, at, shown: { sql, off }, page, busy, change, edit }: LineProps) {
  const name = nameOf({ of, at });
  const move = (to: number) => change({ kind: 'move', at, to });
  return (
    <>
      <button type="button" disabled={busy} onClick={edit} aria-label={`edit ${name}`}>
        Edit
      </button>
      {of === 'lines' && (
        <>
          <button
            type="button"
            disabled={busy || at === 0}
            onClick={() => move(at - 1)}
            aria-label={`move ${name} up`}
          >
            ↑
          </button>
          <button
            type="button"
            disabled={busy || at === page.lines.length - 1}
            onClick={() => move(at + 1)}
            aria-label={`move ${name} down`}
          >
            ↓
          </button>
          {/^\s*(commit|rollback)\b/i.test(sql) && !off && (
            <button
              type="button"
              disabled={busy}
              onClick={() => change({ kind: 'merge', at })}
              aria-label={`merge transactions at ${name}`}
            >
              Merge
            </button>
          )}
        </>
      )}
    </>
  );
}

interface LineShown {
  readonly sql: string;
  readonly off: boolean;
  readonly session?: number;
  readonly hint?: 'named' | 'needed' | 'free';
}

interface TreeProps {
  readonly page: ShrinkPage;
  readonly go: (to: number) => void;
  readonly busy: boolean;
}

function Tree({ page, go, busy }: TreeProps) {
  const children = (parent: number | undefined): ShrinkTreeNode[] =>
    page.tree.filter((node) => node.parent === parent);
  // A line of single children is a list; only branches are indented.
  const branch = (nodes: readonly ShrinkTreeNode[]) => (
    <ul class="tree">
      {nodes.map((first) => {
        const chain = [first];
        for (let next = children(first.id); next.length === 1; next = children(chain.at(-1)!.id))
          chain.push(next[0]!);
        const rest = children(chain.at(-1)!.id);
        return (
          <li key={first.id}>
            {chain.map((node) => (
              <button
                key={node.id}
                type="button"
                class={`tree-node trial-${node.verdict ?? 'open'}`}
                disabled={busy}
                aria-current={node.id === page.current ? 'true' : undefined}
                onClick={() => go(node.id)}
              >
                <b>{node.change}</b>
                <span>
                  {node.statements} statements{node.says === undefined ? '' : `, ${node.says}`}
                </span>
              </button>
            ))}
            {rest.length > 0 && branch(rest)}
          </li>
        );
      })}
    </ul>
  );
  return branch(children(undefined));
}
