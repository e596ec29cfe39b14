import script from 'virtual:encryption-script';

/** The code of encryption, as text for the worker. */
export const encryptionScript: string = script;
