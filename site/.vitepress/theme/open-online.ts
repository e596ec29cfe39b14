import { defineComponent, h } from 'vue';
import { data } from './examples.data.ts';

/**
 * `<OpenOnline name="react" />` opens an example of the repository in StackBlitz, which installs
 * and starts it.
 *
 * It is a form, because a link would need a public repository:
 * https://developer.stackblitz.com/platform/api/post-api. Nothing is sent before the click.
 */
export const OpenOnline = defineComponent({
  props: { name: { type: String, required: true } },
  setup({ name }) {
    const files = data[name];
    if (!files) throw new Error(`There is no examples/${name}.`);
    const field = (key: string, value: string) =>
      h('textarea', { name: `project[${key}]`, hidden: true, readonly: true }, value);
    return () =>
      h(
        'form',
        {
          action: 'https://stackblitz.com/run?startScript=dev',
          method: 'post',
          target: '_blank',
          class: 'open-online',
        },
        [
          field('title', `Cairn with ${name}`),
          field('description', 'An offline-first list of tasks'),
          field('template', 'node'),
          ...Object.entries(files).map(([path, content]) => field(`files][${path}`, content)),
          h('button', { 'aria-label': `Open in StackBlitz: ${name}` }, 'Open in StackBlitz'),
        ],
      );
  },
});
