/** What an embed token may do: the operations, by name, that its kind allows. */

export type EmbedScope = { kind: 'library'; access: 'read' | 'upload' } | { kind: 'webhooks' };

const libraryReads = ['library.list', 'library.read', 'library.download', 'library.file', 'library.poster'];

const libraryUploads = [
  'library.upload',
  'library.createUpload',
  'library.appendUpload',
  'library.readUpload',
  'library.cancelUpload',
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
];

const reading: ReadonlySet<string> = new Set(libraryReads);
const uploading: ReadonlySet<string> = new Set([...libraryReads, ...libraryUploads]);
const ofWebhooks: ReadonlySet<string> = new Set(webhooks);

/** Whether a token with this scope allows the operation with this name. */
export function allowsEmbedded(scope: EmbedScope, operation: string): boolean {
  if (scope.kind === 'webhooks') return ofWebhooks.has(operation);
  return (scope.access === 'upload' ? uploading : reading).has(operation);
}

/** Reads the columns of a token. */
export function toEmbedScope(kind: EmbedScope['kind'], access: 'read' | 'upload' | null): EmbedScope {
  return kind === 'library' ? { kind, access: access ?? 'read' } : { kind };
}
