import { verifyWebhook, WebhookVerificationError } from '@lynxroom/client';
import { readSettings } from '../../lib/lynxroom.ts';
import { remember } from '../../lib/story.ts';

/** Receives the events of the workspace. Anybody can send something here, so only what the service signed counts. */
export async function POST(request: Request): Promise<Response> {
  try {
    const message = await verifyWebhook(await request.text(), request.headers, readSettings().webhookSecret);
    remember(request.headers.get('webhook-id') ?? '', message);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(error.message, { status: 401 });
    throw error;
  }
}
