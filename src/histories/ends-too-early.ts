import { FileError } from '../errors.js';

/** Compressed data stop in the middle; everything before has been handed out. Apart from `unpack.ts`, which few files need. */
export class EndsTooEarly extends FileError {}
