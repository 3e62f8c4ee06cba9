/** The introduction of the OpenAPI document, and its tags in the order of the sidebar. */

export const description = `Teams share meeting rooms, recordings and a media library with labels inside workspaces.

Fields named \`*_at\` are Unix timestamps in seconds. Flags are 1 or 0. Every error response has the same body:
\`error\` and \`message\` contain the text, \`code\` is machine-readable, and \`issues\` lists each invalid field
of a 400.
If the path names a workspace, checks run in this order: 401, 404 for the workspace, 403, 400, 404 for a resource in it,
409.

A fixed path segment takes precedence over a parameter: \`join\` in \`/api/workspaces/join/{token}\` is not the ID of a
workspace, and \`events\` in \`.../webhooks/events\` is not the ID of a webhook.

New paths and new fields can be added at any time, so clients must ignore fields that they do not know.`;

export const tags = [
  ['Signing in', 'Accounts and sessions. Send the token as `Authorization: Bearer`, or use the cookie in a browser.'],
  ['Workspaces', 'A workspace holds the rooms, files and members of a team. Members join through an invite link.'],
  ['Members', 'The members of a workspace and their roles, and invitations by mail.'],
  ['Rooms', 'Meeting rooms. The name of a room is unique in the whole service.'],
  ['Participants', 'Joining and leaving rooms, and admitting participants from the waiting room.'],
  ['Recordings', 'Recordings of meetings in rooms.'],
  ['Meetings', 'What happened in the rooms of a workspace: who met when.'],
  ['Labels', 'Colored tags of a workspace, for the items of its library.'],
  ['Media library', 'PDF and MP4 files of a workspace, up to 100 MB each.'],
  ['Trash', 'What the console has moved to the trash of a workspace, for 30 days.'],
  ['Retention', 'How long the items of a library are stored.'],
  ['Contacts', 'People who joined rooms or booked meetings.'],
  ['Booking', 'Public pages on which anyone can book a meeting, and the bookings made there.'],
  ['Meeting providers', 'Connections to meeting providers, which report what happens in rooms.'],
  ['Analytics', 'Figures about the activity in a workspace.'],
  ['Audit log', 'Who did what in a workspace, in a chain of hashes that can be verified.'],
  [
    'Data about people',
    'Export and erasure of everything that is stored about an account, a contact or a participant.',
  ],
  ['API keys', 'Credentials for programs, each for one workspace. Send a key as `Authorization: Bearer`.'],
  ['Embed tokens', 'Credentials for pages of other products, each for one part of a workspace, for at most a day.'],
  ['Connected apps', 'Agents that people have connected to a workspace with OAuth. They use `/mcp`.'],
  ['Live updates', 'Streams of events as they happen, as Server-Sent Events.'],
  ['Webhooks', 'URLs that receive the events of a workspace. You can list the messages and attempts of each.'],
] as const;
