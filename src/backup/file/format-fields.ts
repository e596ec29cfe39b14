import { version } from '../../../package.json';

export const FORMAT = 'cairn-backup';

/** The format of new files. A change that older readers would not understand increases it. */
export const FORMAT_NUMBER = 1;

/** The first fields of every header and of the last line, in this format and all later ones. */
export const FORMAT_FIELDS = { format: FORMAT, format_number: FORMAT_NUMBER, version } as const;
