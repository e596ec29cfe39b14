import script from 'virtual:opfs-script';

/** The code of `storage: 'opfs'`, as text for the worker. */
export const opfsScript: string = script;
