/**
 * Text that JavaScript would not keep as it is: bytes that are no UTF-8 all become the same replacement character, and
 * integers that a double does not hold are rounded. Either can make two different values one, and then a verdict
 * speaks of a history that never was. Such text is refused.
 */
import { isUtf8 } from 'node:buffer';

/** What a JSON text loses when it is parsed; undefined if nothing. */
export function lossyText(bytes: Uint8Array, text: string): string | undefined {
  if (!isUtf8(bytes)) return notUtf8;
  const number = roundedInteger(text);
  return number === undefined
    ? undefined
    : `the integer ${number} is beyond what JSON numbers hold exactly; write it as a text`;
}

export const notUtf8 = 'the bytes are not UTF-8, so two different texts could become one';

const longNumber = /\d{16}/;

/** The first integer outside of texts that a double rounds. */
function roundedInteger(text: string): string | undefined {
  if (!longNumber.test(text)) return undefined;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (!/^-?\d{16,}$/.test(token)) continue;
    // The usual spelling of a double is that of no other.
    if (String(Number(token)) !== token) return token.slice(0, 40);
  }
  return undefined;
}
