/**
 * The elements of a JSON file that is a list of objects or one object per line, however the text is laid out.
 * Only the outermost structure is scanned here; each element is then parsed by itself, so that a file of gigabytes
 * needs the memory of one element.
 */
import { isUtf8 } from 'node:buffer';
import { notUtf8 } from '../lossy-text.js';
import type { ByteWindow } from './byte-window.js';
import { parseExactJson, parseJsonText } from './exact-json.js';

export class JsonElements {
  readonly #window: ByteWindow;
  readonly #parse: (text: string) => { readonly value: unknown } | undefined;
  #list: 'none' | 'open' | 'closed' = 'none';
  #count = 0;
  /** The last thing was a comma, which must be followed by an element. */
  #comma = false;

  /** `exact`: integers that a double does not hold come as their digits, at some cost. */
  constructor(window: ByteWindow, exact = true) {
    this.#window = window;
    this.#parse = exact ? parseExactJson : parseJsonText;
  }

  /**
   * Takes every whole element of the window; `offset` is where it begins. `quick` may read the element at a place by
   * itself and returns the place after it, or -1.
   */
  run(
    take: (element: unknown, offset: number) => void,
    quick: (bytes: Buffer, at: number, end: number) => number = () => -1,
  ): void {
    const window: ByteWindow = this.#window;
    while (window.at < window.end) {
      const byte = window.bytes[window.at]!;
      if (byte === 32 || byte === 10 || byte === 13 || byte === 9) window.at++;
      else if (this.#list === 'closed') window.fail(window.at, 'nothing may follow the list');
      else if (byte === 123) {
        const isMisplaced = this.#list === 'open' && this.#count > 0 && !this.#comma;
        const next = isMisplaced ? -1 : quick(window.bytes, window.at, window.end);
        if (next >= 0) {
          this.#count++;
          this.#comma = false;
          window.at = next;
          continue;
        }
        const end = this.#objectEnd();
        if (end < 0) return;
        if (!isUtf8(window.bytes.subarray(window.at, end))) window.fail(window.at, notUtf8);
        const parsed = this.#parse(window.bytes.toString('utf8', window.at, end));
        if (parsed === undefined) window.fail(window.at, 'this is not JSON, from here to the closing "}"');
        if (isMisplaced) window.fail(window.at, 'expected "," before this object');
        take(parsed.value, window.at);
        this.#count++;
        this.#comma = false;
        window.at = end;
      } else this.#punctuation(byte);
    }
  }

  finish(): void {
    const window: ByteWindow = this.#window;
    if (window.at < window.end) window.fail(window.at, 'the file ends inside the object that begins here');
    if (this.#list === 'open') window.fail(window.end, 'the file ends inside its list; expected "]"');
    if (this.#count === 0 && this.#list === 'none')
      window.fail(0, 'expected a list of objects, or one object per line');
  }

  #punctuation(byte: number): void {
    const window: ByteWindow = this.#window;
    if (byte === 91 && this.#list === 'none' && this.#count === 0) this.#list = 'open';
    else if (byte === 93 && this.#list === 'open' && !this.#comma) this.#list = 'closed';
    else if (byte === 44 && this.#list === 'open' && this.#count > 0 && !this.#comma) this.#comma = true;
    else
      window.fail(
        window.at,
        `expected an object in braces, found ${JSON.stringify(String.fromCharCode(byte))}`,
      );
    window.at++;
  }

  /** Where the object at the window's place ends; -1 if beyond the window. */
  #objectEnd(): number {
    const { bytes, end } = this.#window;
    let depth = 0;
    for (let at = this.#window.at; at < end; at++) {
      const byte = bytes[at];
      if (byte === 123 || byte === 91) depth++;
      else if (byte === 125 || byte === 93) {
        if (--depth === 0) return at + 1;
      } else if (byte === 34) {
        at++;
        while (at < end && bytes[at] !== 34) at += bytes[at] === 92 ? 2 : 1;
      }
    }
    return -1;
  }
}
