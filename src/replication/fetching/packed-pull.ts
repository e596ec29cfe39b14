import type { Clock } from '../../async/clock.ts';
import { asObject } from '../../codec/exact-json/json-checks.ts';
import { parsedLine } from '../../codec/exact-json/plain-json.ts';
import { readChange } from '../../codec/exact-json/wire-changes.ts';
import { Malformed } from '../../errors/errors.ts';
import { readPullAnswer } from '../protocol/http-answers.ts';
import { PACKED_PAGE_TYPE } from '../protocol/http-fields.ts';
import type { PackedPage, PulledPage, Remote, RemoteChange } from '../protocol/remote.ts';
import type { RefusedError } from './answer-errors.ts';
import { type Fetcher, readBytes, readJson } from './fetcher.ts';

/** A packed page: it came as a line of JSON, and behind it the changes, compressed. */
type PackedAnswer = Omit<PackedPage, 'unpack'>;

const LINE_END = 10;

/** Bytes; it names the documents that are too large for an answer. */
const LONGEST_HEAD = 1_000_000;

type Pull = Remote<string>['pull'];
type Ask = Parameters<Pull>[1];

/** The first pull from a server that may send packed pages. */
export class PackedPull {
  readonly #fetcher: Fetcher;
  readonly #url: string;
  readonly #clock: Clock;
  readonly #pullOrdinary: Pull;
  /** Until one is not understood, is blocked, or breaks off, as it may on slow networks. */
  #takesPacked = typeof DecompressionStream === 'function';

  /** @param pull Pulls an ordinary page. */
  constructor(fetcher: Fetcher, url: string, clock: Clock, pull: Pull) {
    this.#fetcher = fetcher;
    this.#url = url;
    this.#clock = clock;
    this.#pullOrdinary = pull;
  }

  /** As `packedPulls` has it. */
  async pull(after: string | undefined, ask: Ask): Promise<PackedPage | PulledPage<string>> {
    if (!this.#takesPacked) return this.#pullOrdinary(after, ask);
    const { limit, signal } = ask;
    const body = { after: after ?? null, limit };
    const accept = `${PACKED_PAGE_TYPE}, application/json`;
    const request = { url: this.#url, body, signal, accept };
    try {
      const page = await this.#fetcher.open(request, async (response) => {
        const isPacked = response.headers.get('content-type') === PACKED_PAGE_TYPE;
        if (!isPacked) return readPullAnswer(await readJson(response, request), limit);
        this.#takesPacked = false;
        const page = pageOf(await readBytes(response, request));
        this.#takesPacked = true;
        return page;
      });
      return 'packed' in page
        ? { ...page, unpack: (again) => this.#unpack(page, after, again) }
        : page;
    } catch (error) {
      const { code, refusal, cause } = error as Partial<RefusedError>;
      const isForeign = refusal?.code === 'checkpoint_invalid';
      // A firewall, or a `fetch` of the app, lets nothing through but JSON.
      const isBlocked = !refusal && (code === 'remote_refused' || code === 'remote_forbidden');
      const isUnread = code === 'remote_offline' && !(cause instanceof TypeError);
      const mayPass = code === 'answer_invalid' || isForeign || isBlocked || isUnread;
      if (signal.aborted || !mayPass) throw error;
      // It says why, or begins anew.
      this.#takesPacked = false;
      return this.#pullOrdinary(after, ask);
    }
  }

  async #unpack(page: PackedAnswer, after: string | undefined, ask: Ask) {
    try {
      return await unpackedPage(page, this.#clock);
    } catch {
      this.#takesPacked = false;
      return this.#pullOrdinary(after, ask);
    }
  }
}

/** @throws {Malformed} */
function pageOf(bytes: Uint8Array): PackedAnswer {
  const end = bytes.indexOf(LINE_END);
  if (end < 0 || end > LONGEST_HEAD) throw new Malformed('it has no first line');
  const head = parsedLine(new TextDecoder().decode(bytes.subarray(0, end)));
  const { checkpoint, more, rejected } = asObject(head, 'its first line');
  const { changes: _, ...page } = readPullAnswer({ changes: [], checkpoint, more, rejected }, 0);
  return { ...page, packed: bytes.subarray(end + 1) };
}

/** The same as an ordinary page. @throws {Malformed} */
async function unpackedPage(
  { packed, ...page }: PackedAnswer,
  clock: Clock,
): Promise<PulledPage<string>> {
  const { readPackedPage } = await import('../../protocol/packed-page.ts');
  const changes: RemoteChange[] = [];
  await readPackedPage(packed, clock, (line) => changes.push(changeOf(line)));
  return { ...page, changes };
}

function changeOf(line: string): RemoteChange {
  const { id, fields, ...change } = asObject(parsedLine(line), 'a line');
  const document = fields === undefined ? fields : { _id: id, ...asObject(fields, '"fields"') };
  return readChange({ ...change, id, ...(document && { document }) });
}
