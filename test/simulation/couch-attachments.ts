import { createHash } from 'node:crypto';

/** A file of a revision of a document. */
export interface Attachment {
  readonly type: string;
  readonly data: Buffer;
  /** The generation of the revision that brought it. */
  readonly revpos: number;
  /** MD5 of its content. */
  readonly digest: string;
}

export type AttachmentsByName = ReadonlyMap<string, Attachment>;

/** An entry of `_attachments`. */
interface AttachmentField {
  readonly stub?: boolean;
  readonly follows?: boolean;
  readonly revpos?: number;
  readonly content_type?: string;
  readonly length?: number;
  /** In Base64. */
  readonly data?: string;
}

type AttachmentFields = Readonly<Record<string, AttachmentField>>;

export const NO_ATTACHMENTS: AttachmentsByName = new Map();

/** The field `_attachments` of a document. @param isWhole Whether it has their content. */
export function fieldOf(attachments: AttachmentsByName, isWhole = false): object {
  if (attachments.size === 0) return {};
  const fields = [...attachments].map(([name, { type, data, revpos, digest }]) => {
    const content = isWhole ? { data: data.toString('base64') } : { length: data.length };
    return [name, { content_type: type, revpos, digest, ...content, ...(!isWhole && STUB) }];
  });
  return { _attachments: Object.fromEntries(fields) };
}

const STUB = { stub: true };

/**
 * What a revision has attached. @returns the name of a stub that stands for nothing.
 *
 * @param parent What the revision before it has.
 */
export function attachmentsFrom(
  fields: unknown,
  parent: AttachmentsByName,
  generation: number,
): AttachmentsByName | string {
  const made = new Map<string, Attachment>();
  for (const [name, given] of Object.entries((fields ?? {}) as AttachmentFields)) {
    const { stub, revpos = generation, data = '', content_type: type = '' } = given;
    const content = Buffer.from(data, 'base64');
    const known = parent.get(name);
    const isKnown = known && (given.revpos === undefined || known.revpos === revpos);
    if (stub && !isKnown) return name;
    const digest = `md5-${createHash('md5').update(content).digest('base64')}`;
    made.set(name, stub && known ? known : { type, data: content, revpos, digest });
  }
  return made;
}

/**
 * The document of a request with files, which are in it then, as CouchDB reads it.
 *
 * @throws {Error} for what CouchDB would not understand.
 */
export async function readMultipart(body: Blob): Promise<Record<string, unknown>> {
  const [, boundary] = /^multipart\/related;boundary=(\w+)$/.exec(body.type) ?? [];
  const text = Buffer.from(await body.arrayBuffer()).toString('latin1');
  const [before, ...parts] = `\r\n${text}`.split(`\r\n--${boundary}`);
  if (!boundary || before !== '' || parts.pop() !== '--') throw new Error('Not multipart.');
  const [first = '', ...files] = parts.map((part) => part.slice(part.indexOf('\r\n\r\n') + 4));
  const edit = JSON.parse(Buffer.from(first, 'latin1').toString('utf8'));
  const heads = parts.slice(1).map((part) => part.slice(0, part.indexOf('\r\n\r\n')));
  const fields = Object.entries(edit._attachments as AttachmentFields).map(([name, field]) => {
    if (!field.follows) return [name, field];
    const at = heads.findIndex((head) => head.includes(`filename="${name}"`));
    const data = Buffer.from(files[at] ?? '', 'latin1');
    if (at < 0 || data.length !== field.length) throw new Error(`${name} does not follow.`);
    return [name, { content_type: field.content_type, data: data.toString('base64') }];
  });
  return { ...edit, _attachments: Object.fromEntries(fields) };
}
