/** The address behind `#`: which view, and what it shows. Links are ordinary links, so that tabs, history and bookmarks work. */
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  readonly view: string;
  /** What comes behind the view's name. */
  readonly id: string;
  readonly query: URLSearchParams;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', ...rest] = path.split('/');
  return { view: view === '' ? 'bugs' : view, id: decode(rest.join('/')), query: new URLSearchParams(query) };
}

export function linkTo(view: string, id?: string): string {
  return id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
