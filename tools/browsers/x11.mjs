import { connect } from 'node:net';

/** Requests of the X11 protocol, by their opcode. */
const GET_WINDOW_ATTRIBUTES = 3;
const QUERY_TREE = 15;
const INTERN_ATOM = 16;
const SEND_EVENT = 25;
const CLIENT_MESSAGE = 33;
const VIEWABLE = 2;

/**
 * Closes all windows of a display as their close buttons do, so that the programs end by
 * themselves. For displays of Xvfb, which has no window manager: there each window is a child of
 * the root.
 *
 * @param {string} display such as `:1`
 */
export async function closeWindows(display) {
  const connection = await openConnection(Number(display.slice(1)));
  try {
    const [protocols, deleteWindow] = await Promise.all([
      internAtom(connection, 'WM_PROTOCOLS'),
      internAtom(connection, 'WM_DELETE_WINDOW'),
    ]);
    const tree = await connection.ask(request(QUERY_TREE, 0, [connection.root]));
    const windows = Array.from({ length: tree.readUInt16LE(16) }, (_, index) =>
      tree.readUInt32LE(32 + 4 * index),
    );
    for (const window of windows) {
      const attributes = await connection.ask(request(GET_WINDOW_ATTRIBUTES, 0, [window]));
      if (attributes.readUInt8(26) !== VIEWABLE) continue;
      // 32 bits an item, in the second byte of the event.
      const event = [CLIENT_MESSAGE | (32 << 8), window, protocols, deleteWindow, 0, 0, 0, 0];
      connection.tell(request(SEND_EVENT, 0, [window, 0, ...event]));
    }
    // An answer means that all requests before it were executed.
    await internAtom(connection, 'WM_PROTOCOLS');
  } finally {
    connection.end();
  }
}

/**
 * @param {number} opcode
 * @param {number} detail
 * @param {readonly number[]} words
 * @param {Buffer} [tail]
 */
function request(opcode, detail, words, tail = Buffer.alloc(0)) {
  const padded = (tail.length + 3) & ~3;
  const bytes = Buffer.alloc(4 + 4 * words.length + padded);
  bytes.writeUInt8(opcode, 0);
  bytes.writeUInt8(detail, 1);
  bytes.writeUInt16LE(bytes.length / 4, 2);
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word, 4 + 4 * index);
  tail.copy(bytes, 4 + 4 * words.length);
  return bytes;
}

/**
 * @param {Awaited<ReturnType<typeof openConnection>>} connection
 * @param {string} name
 */
async function internAtom(connection, name) {
  const reply = await connection.ask(request(INTERN_ATOM, 0, [name.length], Buffer.from(name)));
  return reply.readUInt32LE(8);
}

/** @param {number} display */
async function openConnection(display) {
  const socket = connect(`/tmp/.X11-unix/X${display}`);
  let received = Buffer.alloc(0);
  let notify = () => undefined;
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    notify();
  });
  /** @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`The display :${display} is gone.`)));
  });
  failed.catch(() => undefined);

  /** @param {number} length */
  const take = async (length) => {
    while (received.length < length) {
      const arrived = new Promise((resolve) => {
        notify = () => void resolve(undefined);
      });
      await Promise.race([arrived, failed]);
    }
    const taken = received.subarray(0, length);
    received = received.subarray(length);
    return taken;
  };

  const hello = Buffer.alloc(12);
  hello.write('l', 0);
  hello.writeUInt16LE(11, 2);
  socket.write(hello);
  const head = await take(8);
  const setup = await take(4 * head.readUInt16LE(6));
  if (head.readUInt8(0) !== 1) throw new Error(`The display :${display} refuses: ${setup}`);
  const vendor = (setup.readUInt16LE(16) + 3) & ~3;
  const root = setup.readUInt32LE(32 + vendor + 8 * setup.readUInt8(21));

  /** One question at a time, so replies need no numbers. */
  let last = Promise.resolve(Buffer.alloc(0));
  const reply = async () => {
    for (;;) {
      const first = await take(32);
      if (first.readUInt8(0) === 0) throw new Error(`X11 error ${first.readUInt8(1)}`);
      if (first.readUInt8(0) !== 1) continue; // an event
      return Buffer.concat([first, await take(4 * first.readUInt32LE(4))]);
    }
  };

  return {
    root,
    /** @param {Buffer} bytes */
    tell: (bytes) => void socket.write(bytes),
    /** @param {Buffer} bytes */
    ask(bytes) {
      socket.write(bytes);
      last = last.then(reply);
      return last;
    },
    end: () => socket.destroy(),
  };
}
