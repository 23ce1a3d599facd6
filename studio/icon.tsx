/** The few pictures of buttons and marks, drawn: fonts that have them are not everywhere. */
const paths = {
  first: 'M4 3v10M13 3L6 8l7 5z',
  back: 'M11 3L4 8l7 5z',
  on: 'M5 3l7 5-7 5z',
  last: 'M12 3v10M3 3l7 5-7 5z',
  lock: 'M4 7h8v7H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  eye: 'M1 8s2.6-4.5 7-4.5S15 8 15 8s-2.6 4.5-7 4.5S1 8 1 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
} as const;

export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
