/** Which storage engine a report or a database is about: MariaDB and MySQL share InnoDB and most of its reports, and have others beside it. */
import { engineSetting, usualEngine } from '../contracts/index.js';

interface Settings {
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

function storageOf(name: string, { settings = {} }: Settings): string {
  return name === 'mariadb' || name === 'mysql'
    ? (settings[engineSetting] ?? usualEngine).toLowerCase()
    : name;
}

/** Whether what is known of the one may be true of the other. */
export function isSameStorage(
  one: Settings & { readonly name: string },
  other: Settings & { readonly name: string },
): boolean {
  return storageOf(one.name, one) === storageOf(other.name, other);
}

/** The first setting that a report needs and a database does not have. */
export function unmetSetting(
  { settings = {} }: Settings,
  database: { readonly settings?: Readonly<Record<string, string>> },
): string | undefined {
  const unmet = Object.entries(settings).find(
    ([name, value]) => (database.settings?.[name] ?? '').toLowerCase() !== value.toLowerCase(),
  );
  return unmet && `${unmet[0]}=${unmet[1]}`;
}
