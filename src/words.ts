/** `1 row`, `2 rows`, `2 to 4 rows`; `several` for nouns whose plural is not made by an s. */
export function counted(number: number | string, noun: string, several = `${noun}s`): string {
  return `${number} ${String(number) === '1' ? noun : several}`;
}
