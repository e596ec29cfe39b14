import { version } from '../../../package.json';

export const FORMAT = 'cairn-backup';

/** Of the format that is written. A change that an older reader would not understand raises it. */
export const FORMAT_NUMBER = 1;

/** The first fields of every header and of the last line, in this format and all later ones. */
export const FORMAT_FIELDS = { format: FORMAT, format_number: FORMAT_NUMBER, version } as const;
