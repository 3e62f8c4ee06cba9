/** A React page of another origin than the service, with the components of `packages/react`. */
import { join } from 'node:path';
import { build } from 'vite';
import { root } from '../../../client/packed-client.ts';
import { type EmbeddingSite, startPage } from './embedding-site.ts';

const ENTRY = '/entry.js';

/** `show(part, props)` renders a component in place of the one before, and `errors` are what they reported. */
const PROGRAM = `
import { Booking, Library, Room, WebhookPortal } from '@lynxroom/react';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
const parts = { Booking, Library, Room, WebhookPortal };
const shown = createRoot(document.querySelector('#shown'));
globalThis.errors = [];
globalThis.show = (part, props) =>
  shown.render(createElement(parts[part], { ...props, onError: (error) => errors.push(error) }));`;

export async function startReactSite(): Promise<EmbeddingSite> {
  const built = await build({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    // Vite takes the variable NODE_ENV of the tests for development, where React has other functions.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { alias: { '@lynxroom/react': join(root, 'packages/react/src/index.tsx') } },
    plugins: [
      {
        name: 'entry',
        enforce: 'pre',
        resolveId: (id) => (id === ENTRY ? ENTRY : null),
        load: (id) => (id === ENTRY ? PROGRAM : null),
      },
    ],
    build: { write: false, lib: { entry: ENTRY, formats: ['iife'], name: 'page' } },
  });
  const [output] = [built].flat().flatMap((bundle) => ('output' in bundle ? bundle.output : []));
  if (output?.type !== 'chunk') throw new Error('The page was not built');
  return startPage(`<!doctype html><title>Product</title><div id="shown"></div>
    <script type="module">${output.code.replaceAll('</script', '<\\/script')}</script>`);
}
