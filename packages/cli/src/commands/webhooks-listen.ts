/** `webhooks listen`: prints the messages of a workspace as they are sent, and forwards them. */
import { type Client, isLynxroomError, type Outputs } from '../../../client/src/index.ts';
import { CliError, type Command, type Context, UsageError } from '../command.ts';
import { chooseWorkspace, openService, type Service, toServiceUrl, urlOption, workspaceOption } from '../service.ts';
import { followMessages } from '../webhooks/follow-messages.ts';
import { forwardMessage, type Message } from '../webhooks/forward.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';

/** RFC 6761: a name in this domain never resolves, so nothing is ever sent there. */
const NOWHERE = 'https://lynxroom-listen.invalid/';

type Webhook = Outputs['webhooks']['create']['webhook'];

export const webhooksListen: Command = {
  name: 'webhooks listen',
  summary: 'Print webhook messages as they arrive, and forward them with --forward-to',
  details: `Registers a temporary webhook, and deletes it when you press Ctrl-C. Needs the role owner or admin.

If the service is on this machine, it sends the messages to a port of this machine. Otherwise it cannot
reach this machine: the webhook then has an address that does not exist, and its messages are read from
the API once a second. Each is marked as failed there, which has no effect on your other webhooks.

Forwarded requests have the body and the headers of webhook requests. They are signed with the secret
that is printed at the start. With --json, prints one line for each message.`,
  options: {
    events: { value: 'LIST', help: 'the events, separated by commas (default: all)' },
    'forward-to': { value: 'URL', help: 'send each message on to this URL' },
    poll: { help: 'read the messages from the API, even if the service is on this machine' },
    ...workspaceOption,
    ...urlOption,
  },
  examples: [
    'lynxroom webhooks listen',
    'lynxroom webhooks listen --events room.created,room.joined --forward-to http://localhost:4000/hook',
  ],
  async run(context) {
    const forwardTo = context.option('forward-to');
    if (forwardTo !== undefined) toServiceUrl(forwardTo);
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const events = await chooseEvents(context, service.client, id);
    const receiver = isLocal(service.url) && !context.flag('poll') ? await startReceiver() : null;
    try {
      await listen(context, service, { id, events, receiver, forwardTo });
    } finally {
      await receiver?.close();
    }
    return undefined;
  },
};

type Listening = { id: number; events: string[]; receiver: Receiver | null; forwardTo: string | undefined };

async function listen(context: Context, service: Service, { id, events, receiver, forwardTo }: Listening) {
  const { client } = service;
  const created = await client.webhooks.create.mutate({
    id,
    name: 'lynxroom webhooks listen',
    url: receiver?.url ?? NOWHERE,
    // `as`: the events are checked against the service's list, and the service refuses unknown ones with a 400.
    events: events as Parameters<Client['webhooks']['create']['mutate']>[0]['events'],
  });
  const { webhook } = created;
  try {
    context.note(`Listening to ${service.url}, workspace ${id}. Press Ctrl-C to stop.`);
    context.note(`The signing secret is ${webhook.secret}`);
    const messages = receiver
      ? receiver.messages(webhook.secret, context.signal)
      : followMessages(client, { id, webhookId: webhook.id }, context.signal);
    for await (const message of messages) {
      const forwarded = forwardTo === undefined ? null : await forwardMessage(message, webhook.secret, forwardTo);
      printMessage(context, message, forwarded);
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
  } finally {
    await removeWebhook(context, id, webhook);
  }
}

function printMessage(context: Context, { id, event, body }: Message, forwarded: string | null): void {
  const { timestamp = '', data } = JSON.parse(body);
  const line = `${timestamp}  ${event}  ${JSON.stringify(data)}`;
  const value = { id, event, body: JSON.parse(body), ...(forwarded !== null && { forwarded }) };
  context.print(value, forwarded === null ? line : `${line}\n  -> ${forwarded}`);
}

async function chooseEvents(context: Context, client: Client, id: number): Promise<string[]> {
  const { events } = await client.webhooks.catalogue.query({ id });
  // A test message goes to a webhook on request, and cannot be subscribed to.
  const known = events.map(({ name }) => name).filter((name) => name !== 'webhook.test');
  const given = context.option('events')?.split(',');
  const unknown = given?.find((name) => !known.some((event) => event === name));
  if (unknown !== undefined) throw new UsageError(`There is no event ${unknown}. Events: ${known.join(', ')}`);
  return given ?? known;
}

/** Whether a service at this address can reach ports of this machine. */
function isLocal(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

/**
 * Does not use the command's signal, which is already aborted. Admins may not delete webhooks, but may deactivate them.
 */
async function removeWebhook(context: Context, id: number, webhook: Webhook): Promise<void> {
  const { client } = await openService(context, AbortSignal.timeout(10_000));
  const webhookId = webhook.id;
  try {
    await client.webhooks.delete.mutate({ id, webhookId }).catch(async (error: unknown) => {
      if (!isLynxroomError(error) || error.status !== 403) throw error;
      await client.webhooks.update.mutate({ id, webhookId, is_active: 0 });
      context.note(`Deactivated the temporary webhook ${webhookId}: only an owner can delete it`);
    });
  } catch (cause) {
    if (isLynxroomError(cause) && cause.status === 404) return;
    throw new CliError(`The temporary webhook ${webhookId} could not be deleted: delete it with lynxroom api`, {
      cause,
    });
  }
}
