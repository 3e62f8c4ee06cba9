import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// With these paths of the service, page and service have one origin, so the session cookie needs no settings.
// The service compares the origin of writes with the host that it is called by, so the host must stay the page's.
const service = { target: process.env.LYNXROOM_URL ?? 'http://127.0.0.1:3000', changeOrigin: false };
const proxy = { '/api': service, '/trpc': service };

export default defineConfig({ plugins: [react()], server: { proxy }, preview: { proxy } });
