/** Starts the server with the same duties. */
import './reads.ts';
import './writes.ts';
import { app } from './server.ts';

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
