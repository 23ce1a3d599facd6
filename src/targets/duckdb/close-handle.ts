/** A connection or an instance. Drivers before 1.2 cannot close one: it goes with the garbage. */
export function closeHandle(handle: { closeSync?(): void }): void {
  handle.closeSync?.();
}
