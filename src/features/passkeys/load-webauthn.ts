/**
 * Loads the library only when a passkey is first used, because the library and its dependencies consist of 300 modules.
 */
export function loadWebauthn(): Promise<typeof import('@simplewebauthn/server')> {
  return import('@simplewebauthn/server');
}
