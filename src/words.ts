/** `1 row`, `2 rows`, `2 to 4 rows`. */
export function counted(number: number | string, noun: string): string {
  return `${number} ${noun}${String(number) === '1' ? '' : 's'}`;
}
