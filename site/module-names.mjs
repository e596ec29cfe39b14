/** TypeDoc plugin: modules have the names by which they are imported. */
import { Converter } from 'typedoc';

/** @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      const name = module.name.replace(/^bindings\//, '');
      module.name = name === 'index' ? 'cairndb' : `cairndb/${name}`;
    }
  });
}
