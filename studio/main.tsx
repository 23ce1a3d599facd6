/** The studio's shell: where one is, and the way to everything else. */
import { type ComponentType, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { isExport } from './api.js';
import { Bug } from './bug.js';
import { Bugs } from './bugs.js';
import { History } from './history.js';
import { Hunt } from './hunt.js';
import { Playground } from './playground.js';
import { Probe } from './probe.js';
import { linkTo, type Route, useRoute } from './route.js';
import { Shrink } from './shrink.js';

interface View {
  readonly title: string;
  readonly show: ComponentType<{ readonly route: Route }>;
  /** The entry of the menu under which it lies; absent: it is one. */
  readonly under?: string;
}

const views: Readonly<Record<string, View>> = {
  bugs: { title: 'Bugs', show: Bugs },
  bug: { title: 'Bug', show: Bug, under: 'bugs' },
  shrink: { title: 'Shrink together', show: Shrink, under: 'bugs' },
  playground: { title: 'Playground', show: Playground },
  hunt: { title: 'Hunt', show: Hunt },
  probe: { title: 'Probe', show: Probe },
  history: { title: 'History', show: History },
};

/** No link: the address names the view. */
function toContent(): void {
  document.getElementById('main')!.focus();
}

const inExport = new Set(['bugs', 'bug']);

function App() {
  const route = useRoute();
  const view = Object.hasOwn(views, route.view) ? views[route.view]! : undefined;
  const place = view?.under ?? route.view;
  // Another place begins at its top.
  useEffect(() => scrollTo(0, 0), [route.view, route.id]);
  const menu = Object.entries(views).filter(
    ([name, { under }]) => under === undefined && (!isExport || inExport.has(name)),
  );
  return (
    <>
      <button type="button" class="skip" onClick={toContent}>
        to the content
      </button>
      <header class="shell">
        <a class="brand" href={linkTo('bugs')}>
          <img src="icon.svg" alt="" width="26" height="26" />
          <span>
            Isolde <small>studio</small>
          </span>
        </a>
        <nav aria-label="views">
          {menu.map(([name, { title }]) => (
            <a key={name} href={linkTo(name)} aria-current={place === name ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        {view === undefined ? (
          <p>There is no such page.</p>
        ) : (
          <view.show key={`${route.view}/${route.id}`} route={route} />
        )}
      </main>
    </>
  );
}

render(<App />, document.getElementById('app')!);
