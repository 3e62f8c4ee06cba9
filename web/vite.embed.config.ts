/** Builds `/embed.js`, which pages of other origins load: one script, that shares nothing with the console. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    emptyOutDir: false,
    reportCompressedSize: false,
    lib: {
      entry: fileURLToPath(new URL('../packages/react/src/embed.ts', import.meta.url)),
      formats: ['iife'],
      name: 'lynxroomEmbed',
      fileName: () => 'embed.js',
    },
  },
});
