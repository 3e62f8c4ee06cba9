import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import { tanstackRouter } from '@tanstack/router-plugin/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The service compares the Origin header of writes with the Host header, so the proxy must keep the host of the page.
const service = { target: process.env.LYNXROOM_URL ?? 'http://127.0.0.1:3000', changeOrigin: false };
const paths = [
  '/api',
  '/trpc',
  '/mcp',
  '/oauth',
  '/.well-known',
  '/files',
  '/docs',
  '/openapi.json',
  '/openapi-3.0.json',
  '/llms.txt',
  '/pages',
  '/dev/mail',
];
const pagesOfMail = ['/verify-email', '/reset-password', '/invitation', '/sign-in/return'];

/** Tests replace the module that loads the client of LiveKit, and find it by its name. */
const toFileName = ({ name }: { name: string }): string =>
  name === 'livekit-room' ? 'assets/livekit-room-[hash].js' : 'assets/[hash].js';

export default defineConfig({
  plugins: [tanstackRouter({ target: 'react', autoCodeSplitting: true }), react(), tailwindcss()],
  resolve: {
    // The public entry points of the client, as a third party imports them. Their types come from the built package.
    // The first alias that fits a name or its beginning is used.
    alias: {
      '@lynxroom/client/meeting': fileURLToPath(new URL('../packages/client/src/meeting/index.ts', import.meta.url)),
      '@lynxroom/client': fileURLToPath(new URL('../packages/client/src/index.ts', import.meta.url)),
    },
    // Otherwise the client would bring the packages of the service, and the page would load them twice.
    dedupe: ['react', 'react-dom', '@trpc/client', '@trpc/server', '@tanstack/react-query'],
  },
  // The policy of the page allows no inline styles and scripts.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The first page lists the files of all others: their names are hashes alone. Hashes hardly compress: these have 32
    // bits in place of 48.
    rolldownOptions: { output: { hashCharacters: 'hex', chunkFileNames: toFileName } },
  },
  server: { proxy: Object.fromEntries([...paths, ...pagesOfMail].map((path) => [path, service])) },
});
