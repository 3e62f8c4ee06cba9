/** The public entry point: everything that a program imports from `@lynxroom/client`. */
export { type Client, type ClientOptions, createClient, type RetryOptions } from './client.ts';
export type {
  AppRouter,
  Branding,
  ErrorCode,
  ImportAnswer,
  Inputs,
  LibraryItem,
  LiveEvent,
  Outputs,
  Recording,
  WebhookBody,
} from './contract.ts';
export type { HeaderSource, TokenOptions, TokenSource } from './credential.ts';
export { ConnectionError, type Issue, isLynxroomError, LynxroomError } from './errors.ts';
export type {
  CallOptions,
  ExportContactsInput,
  ExportPersonInput,
  FileOperations,
  ImportContactsInput,
  SetLogoInput,
  SetPosterInput,
  SetRecordingPosterInput,
  UploadInput,
  UploadOptions,
  UploadRecordingInput,
  WriteOptions,
} from './file-operations.ts';
export type { UploadMemory } from './resumable-upload.ts';
export type { FileStream, Progress } from './send-form.ts';
export { verifyWebhook, WebhookVerificationError } from './webhooks.ts';
export type { WorkspaceClient } from './workspace.ts';
