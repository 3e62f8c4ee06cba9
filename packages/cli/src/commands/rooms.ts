/** The rooms of a workspace. */
import type { Command } from '../command.ts';
import { chooseWorkspace, openService, urlOption, workspaceOption } from '../service.ts';
import { toTable, toTime } from '../table.ts';

const roomsList: Command = {
  name: 'rooms list',
  summary: 'List the rooms of the workspace',
  options: { ...workspaceOption, ...urlOption },
  examples: ['lynxroom rooms list'],
  async run(context) {
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const answer = await service.client.rooms.listInWorkspace.query({ id });
    const rows = answer.rooms.map((room) => [
      room.name,
      room.display_name ?? '',
      String(room.recording_count),
      toTime(room.last_used_at),
    ]);
    context.print(answer, toTable(['NAME', 'TITLE', 'RECORDINGS', 'LAST USED (UTC)'], rows, 'No rooms'));
    return undefined;
  },
};

const roomsCreate: Command = {
  name: 'rooms create',
  args: '[name]',
  maxArgs: 1,
  summary: 'Create a room',
  details: 'Without a name, the service chooses one.',
  options: {
    title: { value: 'TEXT', help: 'the name to show to people' },
    'waiting-room': { help: 'participants wait until they are admitted' },
    ...workspaceOption,
    ...urlOption,
  },
  examples: ['lynxroom rooms create stand-up --title "Stand-up"', 'lynxroom rooms create'],
  async run(context) {
    const service = await openService(context);
    const [name] = context.args;
    const title = context.option('title');
    const { room } = await service.client.rooms.create.mutate({
      workspace_id: await chooseWorkspace(context, service),
      ...(name !== undefined && { name }),
      ...(title !== undefined && { display_name: title }),
      ...(context.flag('waiting-room') && { waiting_room_enabled: 1 as const }),
    });
    context.print(room, `Created the room ${room.name}`);
    return undefined;
  },
};

const roomsDelete: Command = {
  name: 'rooms delete',
  args: '<name>',
  minArgs: 1,
  summary: 'Delete a room with all its recordings',
  options: { ...urlOption },
  examples: ['lynxroom rooms delete stand-up'],
  async run(context) {
    const { client } = await openService(context);
    const [name = ''] = context.args;
    context.print(await client.rooms.delete.mutate({ name }), `Deleted the room ${name}`);
    return undefined;
  },
};

export const rooms: readonly Command[] = [roomsList, roomsCreate, roomsDelete];
