/** The order of a case as a list: lines are dragged, or moved by buttons, to another place, and the case is run again. */
import { useRef, useState } from 'preact/hooks';
import { post } from './api.js';
import { Sql } from './sql.js';

interface Props {
  readonly script: string;
  readonly change: (script: string) => void;
  readonly run: () => void;
  readonly busy: boolean;
  readonly fail: (text: string | undefined) => void;
}

const operation = /^\s*[A-Za-z_][\w-]*\s*:\s*\S/;

/** The numbers of the lines that send something. Statements over several lines stay where they are. */
function operationsOf(lines: readonly string[]): number[] {
  return lines.flatMap((line, at) => (operation.test(line) && line.trimEnd().endsWith(';') ? [at] : []));
}

/** A script with one operation at the place of another; everything else keeps its order. */
function moved(lines: readonly string[], from: number, to: number): string {
  const rest = lines.toSpliced(from, 1);
  return rest.toSpliced(to, 0, lines[from]!).join('\n');
}

export function Arrangement({ script, change, run, busy, fail }: Props) {
  const [dragged, setDragged] = useState<number>();
  const list = useRef<HTMLOListElement>(null);
  const lines = script.split('\n');
  const operations = operationsOf(lines);
  const move = (from: number, to: number) => {
    if (from < 0 || to < 0 || from >= operations.length || to >= operations.length || from === to) return;
    change(moved(lines, operations[from]!, operations[to]!));
    // The line keeps the keyboard wherever it goes.
    const side = to > from ? 'later' : 'earlier';
    requestAnimationFrame(() => {
      const item = list.current?.children[to];
      const button = item?.querySelector<HTMLButtonElement>(`button[data-side=${side}]:not(:disabled)`);
      (button ?? item?.querySelector<HTMLButtonElement>('button:not(:disabled)'))?.focus();
    });
  };
  if (operations.length < 2) return <AsScript script={script} change={change} fail={fail} />;
  return (
    <details class="card" open>
      <summary>Order</summary>
      <p class="quiet">Drag an operation to another place, or use its buttons; then run again.</p>
      <ol class="arrangement" ref={list}>
        {operations.map((at, i) => (
          <li
            key={i}
            draggable={!busy}
            class={dragged === i ? 'dragged' : ''}
            onDragStart={(event) => {
              setDragged(i);
              event.dataTransfer?.setData('text/plain', lines[at]!);
            }}
            onDragOver={(event) => {
              if (dragged !== undefined) event.preventDefault();
            }}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged !== undefined) move(dragged, i);
              setDragged(undefined);
            }}
            onDragEnd={() => setDragged(undefined)}
          >
            <Move side="earlier" i={i} disabled={i === 0 || busy} move={() => move(i, i - 1)} />
            <Move
              side="later"
              i={i}
              disabled={i === operations.length - 1 || busy}
              move={() => move(i, i + 1)}
            />
            <Sql text={lines[at]!} />
          </li>
        ))}
      </ol>
      <button type="button" disabled={busy} onClick={run}>
        Run again
      </button>
    </details>
  );
}

/** A button that moves an operation by one place. */
function Move({
  side,
  i,
  disabled,
  move,
}: {
  readonly side: 'earlier' | 'later';
  readonly i: number;
  readonly disabled: boolean;
  readonly move: () => void;
}) {
  return (
    <button
      type="button"
      data-side={side}
      disabled={disabled}
      aria-label={`operation ${i + 1} ${side}`}
      onClick={move}
    >
      {side === 'earlier' ? '↑' : '↓'}
    </button>
  );
}

/** A table of a report has no lines that could be moved; as a script it has. */
function AsScript({ script, change, fail }: Pick<Props, 'script' | 'change' | 'fail'>) {
  const write = () => {
    fail(undefined);
    post<{ readonly script: string }>('arrange', { script }).then(
      (answer) => change(answer.script),
      (error: Error) => fail(error.message),
    );
  };
  return (
    <p>
      <button type="button" onClick={write}>
        Write it as a script
      </button>{' '}
      <span class="quiet">whose lines can be moved</span>
    </p>
  );
}
