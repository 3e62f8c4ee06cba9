/** What the settings of a room can be, in the words of the console. */

export const viewerOptions = [
  { value: 'members', label: 'All members can watch' },
  { value: 'hosts', label: 'Only the hosts can watch' },
] as const;

export const recorderOptions = [
  { value: 'everyone', label: 'Everybody in the meeting' },
  { value: 'members', label: 'Members of the workspace and hosts' },
  { value: 'hosts', label: 'Only the hosts' },
] as const;
