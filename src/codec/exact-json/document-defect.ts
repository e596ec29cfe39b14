import { Malformed } from '../../errors/errors.ts';
import { decodeDocument } from './wire-documents.ts';

/** The defect of a document of the other side, as a clause; `undefined` if it is whole. */
export function documentDefect(wire: unknown, id: string): string | undefined {
  try {
    decodeDocument(wire, id);
    return undefined;
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
}
