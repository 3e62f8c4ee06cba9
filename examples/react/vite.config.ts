import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Vite forwards these paths to the service, so the page and the service have one origin, and the session cookie needs
// no settings. For writes, the service compares the `Origin` header with the `Host` header, so `Host` must stay that of
// the page.
const service = { target: process.env.LYNXROOM_URL ?? 'http://127.0.0.1:3000', changeOrigin: false };
const proxy = { '/api': service, '/trpc': service };

export default defineConfig({ plugins: [react()], server: { proxy }, preview: { proxy } });
