import { version } from '../../../package.json';

export const FORMAT = 'cairn-backup';

/** Of the format that is written. It goes up with any change that an older reader would not understand. */
export const FORMAT_NUMBER = 1;

/** How every header and the last line begin, in this format and in all to come. */
export const ORIGIN = { format: FORMAT, format_number: FORMAT_NUMBER, version } as const;
