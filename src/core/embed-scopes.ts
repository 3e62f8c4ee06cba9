/** What an embed token may do: the operations, by name, that its kind allows. */

export type EmbedScope =
  /** `labelId`: only items with this label, or null for all. */
  { kind: 'library'; access: 'read' | 'upload'; labelId: number | null } | { kind: 'webhooks' };

/** What each frame reads of itself: what its token allows, and how the workspace looks. */
const ofEach = ['embedTokens.current', 'branding.read'];

const libraryReads = ['library.list', 'library.read', 'library.download', 'library.file', 'library.poster'];

const libraryUploads = [
  'library.upload',
  'library.createUpload',
  'library.appendUpload',
  'library.readUpload',
  'library.cancelUpload',
  // Only of new items.
  'library.setPoster',
];

const webhooks = [
  'webhooks.list',
  'webhooks.events',
  'webhooks.catalogue',
  'webhooks.create',
  'webhooks.update',
  'webhooks.test',
  'webhooks.deliveries',
  'webhooks.resend',
  'webhooks.resendFailed',
  'webhooks.messages',
  'webhooks.message',
  'webhooks.resendMessage',
];

const reading: ReadonlySet<string> = new Set([...ofEach, ...libraryReads]);
const uploading: ReadonlySet<string> = new Set([...reading, ...libraryUploads]);
const ofWebhooks: ReadonlySet<string> = new Set([...ofEach, ...webhooks]);

/** Whether a token with this scope allows the operation with this name. */
export function allowsEmbedded(scope: EmbedScope, operation: string): boolean {
  if (scope.kind === 'webhooks') return ofWebhooks.has(operation);
  return (scope.access === 'upload' ? uploading : reading).has(operation);
}

/** Reads the columns of a token. */
export function toEmbedScope(
  kind: EmbedScope['kind'],
  access: 'read' | 'upload' | null,
  labelId: number | null,
): EmbedScope {
  return kind === 'library' ? { kind, access: access ?? 'read', labelId } : { kind };
}
