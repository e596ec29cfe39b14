import { type Theme, useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { defineComponent, h, onMounted, watchEffect } from 'vue';
import { LiveDemo } from './live-demo.ts';
import { OpenOnline } from './open-online.ts';
import Sample from './sample.md';
import '../../../demo/design/fonts.css';
import '../../../demo/design/tokens.css';
import './colours.css';
import './layout.css';

const Layout = defineComponent(() => {
  const { frontmatter } = useData();
  onMounted(() => watchEffect(() => markMain(frontmatter.value.layout === 'home')));
  return () =>
    h(DefaultTheme.Layout, null, {
      'home-hero-image': () => h('div', { class: 'home-sample vp-doc' }, h(Sample)),
    });
});

/** The home page of VitePress has no landmark. */
function markMain(isHome: boolean): void {
  const content = document.getElementById('VPContent');
  if (isHome) content?.setAttribute('role', 'main');
  else content?.removeAttribute('role');
}

/** The theme of VitePress in the colours of the playground; the home page begins with code. */
export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp: ({ app }) => {
    app.component('LiveDemo', LiveDemo);
    app.component('OpenOnline', OpenOnline);
  },
} satisfies Theme;
