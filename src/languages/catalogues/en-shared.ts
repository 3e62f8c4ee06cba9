/** English, like `en.ts`: the texts of parts that every page has. The console loads them first, so they are few. */
export const enShared = {
  'shared.loading': 'Loading',
  'shared.cancel': 'Cancel',
  'shared.close': 'Close',
  'shared.dismiss': 'Dismiss',
  'shared.messages': 'Messages',
  'shared.tryAgain': 'Try again',
  'shared.notLoaded': 'This could not be loaded',
  'shared.request': 'Request',
  'shared.copyRequestId': 'Copy the request ID',
  'shared.copied': 'Copied',
  'shared.selectToCopy': 'Select the text to copy it',
  'error.unknown': 'Something went wrong',
  'error.connection': 'The service cannot be reached. Check the connection and try again.',
} as const;
