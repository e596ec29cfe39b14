import { callInPage, withBrowser } from './bench-page.mjs';
import { definePart, Figures } from './part.mjs';

const PHOTO_BYTES = 300_000;

export const sealedContent = definePart({
  name: 'sealed',
  title: 'documents and photos that the server cannot read, and the same as they are',
  limits: [],
  async run({ servers, smoke, rounds, options }) {
    const sizes = [
      { what: 'documents', size: options.documents ?? (smoke ? 500 : 10_000), bytes: 0 },
      { what: 'photos', size: options.photos ?? (smoke ? 5 : 100), bytes: PHOTO_BYTES },
    ];
    const figures = new Figures();
    await withBrowser(servers, async (open) => {
      const page = await open();
      for (let round = 1; round <= rounds; round++)
        for (const { what, size, bytes } of sizes)
          for (const contender of ['plain', 'sealed']) {
            const remote = `${contender}-${what}-${round}`;
            const input = { contender, remote, size, bytes };
            const ran = await callInPage(page, 'sealed.mjs', 'run', input);
            figures.add(size, `${what}, ${contender}`, ran);
          }
      await page.close();
    });
    return { measured: figures.measured };
  },
});
