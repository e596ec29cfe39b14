/** Asks a worker whether it runs. */
export const HELLO = 'cairn:hello';

/** A worker's answer to {@link HELLO}; it also sends it once its script has run. */
export const READY = 'cairn:ready';
