/**
 * The URL of an embedded or private server with the settings of a run: the scheme, and every setting that such a server would not have
 * by itself. What a run was like is known from its stamp, and the stamp of an imported bug is a stranger's: only values of the expected
 * form come into a URL, so that none brings another parameter with it.
 */
export interface NamedSetting {
  /** As targets stamp it. */
  readonly setting: string;
  /** As URLs call it; default: the same. */
  readonly parameter?: string;
  /** What a private server has anyway; absent: that depends on its version, so that the setting is always named. */
  readonly usual?: string;
  readonly accepts: RegExp;
}

export const onOrOff = /^(?:ON|OFF)$/i;
export const count = /^\d{1,9}$/;

/** `privateUrl` of a declaration. */
export function privateUrlWith(
  scheme: string,
  named: readonly NamedSetting[],
): (settings: Readonly<Record<string, string>>) => string {
  return (settings) => {
    const parameters = named.flatMap(({ setting, parameter = setting, usual, accepts }) => {
      const value = settings[setting];
      if (value === undefined || !accepts.test(value) || value.toLowerCase() === usual) return [];
      return [`${parameter}=${value}`];
    });
    return `${scheme}:${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
  };
}
