/** The public entry point: everything that a program imports from `@lynxroom/client`. */
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type ExportContactsInput,
  type ExportPersonInput,
  type FileOperations,
  type ImportContactsInput,
  type SetPosterInput,
  type SetRecordingPosterInput,
  type UploadInput,
  type UploadOptions,
  type UploadRecordingInput,
  type WriteOptions,
} from './client.ts';
export type {
  AppRouter,
  ErrorCode,
  ImportAnswer,
  Inputs,
  LibraryItem,
  LiveEvent,
  Outputs,
  Recording,
  WebhookBody,
} from './contract.ts';
export type { TokenOptions, TokenSource } from './credential.ts';
export { ConnectionError, type Issue, isLynxroomError, LynxroomError } from './errors.ts';
export type { UploadMemory } from './resumable-upload.ts';
export type { FileStream, Progress } from './send-form.ts';
export { verifyWebhook, WebhookVerificationError } from './webhooks.ts';
export type { WorkspaceClient } from './workspace.ts';
