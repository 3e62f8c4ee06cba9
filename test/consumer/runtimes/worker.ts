/** A Cloudflare Worker that does the main job for each request. */
import { runMainJob, type Task } from './main-job.ts';

export default {
  async fetch(request: Request): Promise<Response> {
    // `as`: only the test sends requests.
    return Response.json(await runMainJob((await request.json()) as Task));
  },
};
