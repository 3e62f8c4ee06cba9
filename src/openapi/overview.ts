/** The introduction of the OpenAPI document, and its tags in the order of the side bar. */

export const description = `Teams share meeting rooms inside workspaces, keep recordings and a media library, and label them.

Fields named \`*_at\` are Unix timestamps in seconds. Flags are 1 and 0. Every error response has the same body: \`error\` and
\`message\` carry the text, \`code\` is for programs, and 400 names each wrong field in \`issues\`. Where the path names a
workspace, checks come in this order: 401, 404 for the workspace, 403, 400, 404 for a resource in it, 409. Version 1 of these
paths only grows: expect new fields.`;

export const tags = [
  ['Signing in', 'Accounts and sessions. Send the token as `Authorization: Bearer`, or use the cookie in a browser.'],
  ['Workspaces', 'A workspace holds the rooms, files and members of a team. Members join by an invite link.'],
  ['Members', 'The members of a workspace and their roles.'],
  ['Rooms', 'Meeting rooms. The name of a room is unique in the whole service.'],
  ['Participants', 'Joining and leaving rooms, and admitting participants from the waiting room.'],
  ['Recordings', 'Recordings of meetings in rooms.'],
  ['Labels', 'Colored tags of a workspace, for the items of its library.'],
  ['Media library', 'PDF and MP4 files of a workspace, up to 100 MB each.'],
  ['Retention', 'How long the items of a library are kept.'],
  ['Contacts', 'People who joined rooms or booked meetings.'],
  ['Booking', 'Public pages on which anyone can book a meeting, and the bookings.'],
  ['Meeting providers', 'Connections to meeting providers, which report what happens in rooms.'],
  ['Analytics', 'The activity of a workspace in numbers.'],
  ['API keys', 'Credentials for programs, each for one workspace. Send a key as `Authorization: Bearer`.'],
  ['Webhooks', 'URLs to which the service posts the events of a workspace, the attempts, and the events themselves.'],
] as const;
